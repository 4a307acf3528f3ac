import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, numeric, pgEnum, pgPolicy, pgTable, pgView, serial,
  text, timestamp, uniqueIndex, uuid, varchar } from 'drizzle-orm/pg-core'

export const mood = pgEnum('mood', ['sad', 'ok'])

export const author = pgTable('author', {
  id: serial('id').primaryKey(),
  name: varchar('name', { length: 40 }).notNull().unique(),
  mood: mood('mood').default('ok'),
  active: boolean('active').default(true),
  made: timestamp('made', { withTimezone: true }).defaultNow()
})

export const book = pgTable('book', {
  id: integer('id').primaryKey().generatedAlwaysAsIdentity(),
  authorId: integer('author_id').references(() => author.id, { onDelete: 'cascade' }),
  title: text('title').notNull(),
  tags: text('tags').array().default(sql`'{}'::text[]`),
  doc: jsonb('doc').default({}),
  price: numeric('price', { precision: 8, scale: 2 }),
  u: uuid('u').defaultRandom()
}, t => [index('book_author').on(t.authorId), uniqueIndex('book_lower').on(sql`lower(${t.title})`),
  uniqueIndex('book_cheap').on(t.price).where(sql`price < 1`), check('price_ok', sql`price >= 0`)])

export const titles = pgView('titles').as(q => q.select({ title: book.title }).from(book))
