import postgres from 'postgres'
import { show, testCase } from './case.js'

const sql = postgres({ onnotice: n => show([n.severity, n.message]), max: 4 })

await testCase('schema', async () => {
  await sql`create table item (id serial primary key, sku text unique, n int, doc jsonb,
    tags text[],
    at timestamptz)`
  show(await sql`insert into item ${sql([{ sku: 'a', n: 1 }, { sku: 'b', n: 2 }], 'sku', 'n')}
    returning id, sku`)
})

await testCase('types', async () => {
  show(await sql`select ${1}::int a, ${'x'} b, ${sql.json({ k: 1 })} c, ${sql.array([1, 2])} d,
    ${new Date(0)}::timestamptz e, ${null}::text f, 2::int8 g, ${true} h,
    ${Buffer.from([0, 255])}::bytea i`)
  show(await sql`select ${sql.array(['a', 'b'])}::text[] a, array[[1,2],[3,4]] b`)
})

await testCase('helpers', async () => {
  show(await sql`update item set ${sql({ n: 5, tags: ['x', 'y'] }, 'n', 'tags')} where sku = 'a'
    returning n, tags`)
  show(await sql`select sku from item where sku in ${sql(['a', 'b'])} order by ${sql('sku')}`)
  show(await sql`insert into item (sku, n) select * from unnest(${['u', 'v']}::text[],
    ${[3, 4]}::int[]) returning sku, n`)
})

await testCase('errors end at once', async () => {
  for (const f of [() => sql`select ${1} + nope`, () => sql`select 1/${0}`, () => sql`selec`,
    () => sql`insert into item (sku) values (${'a'})`, () => sql`select ${'x'}::int`]) {
    try { show(await f()) } catch (e) { show([e.code, e.message, e.constraint_name, e.position]) }
  }
})

await testCase('transactions', async () => {
  show(await sql.begin('isolation level repeatable read', async t => {
    await t`insert into item (sku) values ('t')`
    await t.savepoint(async s => { await s`insert into item (sku) values ('t')` })
      .catch(e => show(e.code))
    return t`select count(*)::int from item`
  }))
})

await testCase('cursor', async () => {
  const seen = []
  await sql`select generate_series(1, 10) n`.cursor(3, rows => { seen.push(rows.map(r => r.n)) })
  show(seen)
})

await testCase('foreach, raw and describe', async () => {
  await sql`select generate_series(1, 3) n`.forEach(r => show(r))
  show(await sql`select 1 a, 'x' b`.values())
  const d = await sql`select id, sku from item where n > ${1}`.describe()
  show([d.types, d.columns.map(c => [c.name, c.type])])
})

await testCase('copy', async () => {
  const w = await sql`copy item (sku, n) from stdin`.writable()
  w.write('c1\t7\n')
  w.end('c2\t8\n')
  await new Promise((resolve, reject) => w.on('finish', resolve).on('error', reject))
  let out = ''
  const copied = sql`copy (select sku, n from item order by sku) to stdout`
  for await (const b of await copied.readable()) {
    out += b
  }
  console.log(out)
})

await testCase('listen', async () => {
  let resolve
  const got = new Promise(r => { resolve = r })
  await sql.listen('ch', resolve)
  await sql.notify('ch', 'hello')
  show(await got)
})

await testCase('enum', async () => {
  await sql`create type mood as enum ('sad', 'ok')`
  show(await sql`select ${'ok'}::mood m, ${sql.array(['sad'])}::mood[] l`)
})

await testCase('cancel', async () => {
  const q = sql`select pg_sleep(30)`
  setTimeout(() => q.cancel(), 100)
  await q
})

await testCase('simple and several statements', async () => {
  show((await sql.unsafe('select 1 a; select 2 b')).map(r => [...r]))
  await sql`drop table if exists nothere`
})
await sql.end()
