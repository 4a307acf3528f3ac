import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import prisma from './prisma/client/index.js'
import { show, testCase } from './case.js'

const sql = new pg.Client()
await sql.connect()
const db = new prisma.PrismaClient({
  adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) })

await testCase('schema', async () => {
  // what its engine for migrations would send
  await sql.query(`CREATE TYPE "Mood" AS ENUM ('sad', 'ok');
    CREATE TABLE "Author" ("id" SERIAL NOT NULL, "name" VARCHAR(40) NOT NULL,
      "mood" "Mood" NOT NULL DEFAULT 'ok', "tags" TEXT[], "doc" JSONB, "price" DECIMAL(8,2),
      "big" BIGINT, "raw" BYTEA, "made" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
      CONSTRAINT "Author_pkey" PRIMARY KEY ("id"));
    CREATE TABLE "Book" ("id" UUID NOT NULL, "title" TEXT NOT NULL, "authorId" INTEGER,
      CONSTRAINT "Book_pkey" PRIMARY KEY ("id"));
    CREATE UNIQUE INDEX "Author_name_key" ON "Author"("name");
    CREATE INDEX "Book_authorId_idx" ON "Book"("authorId");
    ALTER TABLE "Book" ADD CONSTRAINT "Book_authorId_fkey" FOREIGN KEY ("authorId")
      REFERENCES "Author"("id") ON DELETE CASCADE ON UPDATE CASCADE;`)
})

await testCase('create and read', async () => {
  const omit = { made: true }
  show(await db.author.create({ omit, data: { name: 'Ada', tags: ['x', 'y'], doc: { k: [1] },
    price: '2.50', big: 2n ** 40n, raw: Buffer.from([0, 255]),
    books: { create: [{ title: 'One' }, { title: 'Two' }] } } }))
  show(await db.author.createMany({ data: [{ name: 'Bob' }, { name: 'Ada' }],
    skipDuplicates: true }))
  show(await db.author.findMany({ omit, where: { tags: { has: 'x' }, doc: { path: ['k', '0'],
    equals: 1 } }, include: { books: { select: { title: true }, orderBy: { title: 'asc' } } } }))
  show(await db.author.findMany({ omit, where: { name: { contains: 'AD', mode: 'insensitive' },
    mood: { in: ['ok'] } } }))
})

await testCase('update, upsert, aggregate', async () => {
  show((await db.author.upsert({ where: { name: 'Ada' }, create: { name: 'Ada' },
    update: { mood: 'sad', price: { increment: 1 } } })).price)
  show(await db.author.updateMany({ where: { mood: 'ok' }, data: { tags: { push: 'z' } } }))
  show(await db.author.aggregate({ _sum: { price: true }, _count: true, _max: { name: true } }))
  show(await db.author.groupBy({ by: ['mood'], _count: true, orderBy: { mood: 'asc' } }))
  show(await db.book.count({ where: { author: { name: 'Ada' } } }))
})

await testCase('raw', async () => {
  show(await db.$queryRaw`select ${1}::int a, ${'x'} b, ${[1, 2]}::int[] c`)
  show(await db.$executeRaw`update "Author" set price = 9 where name = ${'Ada'}`)
})

await testCase('transactions', async () => {
  await db.$transaction(async t => {
    await t.author.create({ data: { name: 'T' } })
    show(await t.author.count())
  }, { isolationLevel: 'Serializable' })
  await db.$transaction([db.author.delete({ where: { name: 'T' } }), db.author.create({
    data: { name: 'Bob' } })])
})

await testCase('delete', async () => {
  show((await db.author.delete({ where: { name: 'Ada' } })).name)
  show(await db.book.count())
})
await db.$disconnect()
await sql.end()
