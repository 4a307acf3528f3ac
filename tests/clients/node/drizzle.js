import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asc, count, eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import pg from 'pg'
import { show, testCase } from './case.js'
import { author, book, titles } from './drizzle/schema.js'

const out = mkdtempSync(join(tmpdir(), 'drizzle-'))
const clean = s => s.replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, '').replace(/[⣷⣯⣟⡿⢿⣻⣽⣾].*\n?/g, '')
  .replaceAll(out, 'OUT')
const kit = (...args) => {
  try {
    return clean(execFileSync('npx', ['drizzle-kit', ...args, '--config=drizzle/drizzle.config.js'],
      { cwd: import.meta.dirname, env: { ...process.env, DRIZZLE_OUT: out, NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'] })
      .toString())
  } catch (e) {
    return clean(String(e.stdout) + String(e.stderr)).split('\n')
      .filter(l => /rror/.test(l)).slice(0, 3).join('\n')
  }
}

await testCase('push', () => {
  console.log(kit('push', '--force').split('\n').filter(l => /hanges|rror/.test(l)).join('\n'))
  console.log(kit('push', '--force').split('\n').filter(l => /hanges|rror/.test(l)).join('\n'))
})

await testCase('pull', () => {
  kit('pull')
  const file = readdirSync(out).find(f => f === 'schema.ts')
  console.log(file && readFileSync(join(out, file), 'utf8'))
})

const pool = new pg.Pool({ max: 2 })
const db = drizzle(pool)

await testCase('queries', async () => {
  show(await db.insert(author).values([{ name: 'Ada' }, { name: 'Bob', mood: 'sad' }])
    .returning({ id: author.id, mood: author.mood }))
  show(await db.insert(book).values({ authorId: 1, title: 'One', tags: ['x'], doc: { k: 1 },
    price: '2.50' }).returning({ id: book.id, tags: book.tags, doc: book.doc, price: book.price }))
  show(await db.insert(author).values({ name: 'Ada' })
    .onConflictDoUpdate({ target: author.name, set: { mood: 'sad' } })
    .returning({ m: author.mood }))
  show(await db.select({ name: author.name, n: count(book.id) }).from(author)
    .leftJoin(book, eq(book.authorId, author.id)).groupBy(author.name).orderBy(asc(author.name)))
  show(await db.select().from(titles))
  show(await db.update(book).set({ price: sql`${book.price} + 1` }).returning({ p: book.price }))
  show(await db.delete(author).where(eq(author.name, 'Ada')).returning({ n: author.name }))
  show(await db.$count(book))
})

await testCase('transaction', async () => {
  await db.transaction(async t => {
    await t.insert(author).values({ name: 'T' })
    await t.transaction(async u => { await u.insert(author).values({ name: 'T' }) })
      .catch(e => show(e.cause?.code || e.code))
  }, { isolationLevel: 'repeatable read' })
  show(await db.select({ n: author.name }).from(author).orderBy(author.name))
})
await pool.end()
rmSync(out, { recursive: true })
