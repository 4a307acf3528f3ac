export default { dialect: 'postgresql', schema: './drizzle/schema.js', out: process.env.DRIZZLE_OUT,
  dbCredentials: { url: process.env.DATABASE_URL } }
