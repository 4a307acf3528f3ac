import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { Readable, Writable } from 'node:stream'
import pg from 'pg'
import QueryStream from 'pg-query-stream'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { show, testCase } from './case.js'

const client = new pg.Client()
await client.connect()
const q = async (text, values) => show((await client.query(text, values)).rows)
const rollback = () => client.query('rollback')

await testCase('types', async () => {
  await q(`select 1 a, 2::int8 b, 1.5::numeric c, 2.5::float8 d, true e, 'x' f, '{"a":1}'::jsonb g,
    array[1,2] h, array['a',null] i, '\\x00ff'::bytea j, null k, interval '1 day 2 hours' l,
    '2024-02-29 12:00:00Z'::timestamptz m, point(1, 2)::text n`)
  await q('select $1::int + 1 a, $2::text b, $3::jsonb c, $4::int[] d, $5::timestamptz e',
    [1, 'x', { k: [1] }, [1, 2], new Date(0)])
})

await testCase('schema', async () => {
  await client.query(`create table item (id serial primary key, sku text unique, price numeric,
    doc jsonb, tags text[])`)
  await client.query('create index on item (lower(sku))')
  await client.query('create unique index on item (price) where price > 100')
  const r = await client.query({ name: 'ins', rowMode: 'array',
    text: 'insert into item (sku, price, doc, tags) values ($1, $2, $3, $4) returning *',
    values: ['a', '1.50', { k: 1 }, ['x']] })
  show([r.command, r.rowCount, r.rows, r.fields.map(f => [f.name, f.dataTypeID])])
})

await testCase('unnest of several arrays', async () => {
  await q(`insert into item (sku, price) select * from unnest($1::text[], $2::numeric[])
    returning sku, price`, [['u1', 'u2'], ['2', '3']])
})

await testCase('recordsets', async () => {
  await q(`select * from jsonb_to_recordset('[{"a":1,"b":"x"},{"a":2}]') as t(a int, b text)`)
  await q(`select sku, price from jsonb_populate_recordset(null::item,
    '[{"sku":"p","price":4.5}]')`)
  await q(`select (jsonb_populate_record(null::item, '{"sku":"z"}')).sku`)
})

await testCase('jsonpath', async () => {
  await q(`select doc @? '$.k' a, doc @@ '$.k == 1' b,
    jsonb_path_query_first('{"a":[1,2,3]}', '$.a[*] ? (@ > 1)') c from item where sku = 'a'`)
})

await testCase('text search', async () => {
  await q(`select to_tsvector('english', 'the cats ran') @@ to_tsquery('cat') m`)
})

await testCase('errors', async () => {
  for (const [text, values] of [['select nope'], ['insert into item (sku) values ($1)', ['a']],
    ['select $1::int', ['x']], ['selec'], ['select 1; select 1/0']]) {
    try {
      await client.query(text, values)
    } catch (e) {
      show([e.code, e.message, e.position, e.constraint, e.detail, e.severity, e.routine && 1])
    }
  }
})

await testCase('several statements', async () => {
  const r = await client.query('select 1 a; select 2 b; insert into item (sku) values (\'m\')')
  show(r.map(x => [x.command, x.rowCount, x.rows]))
})

await testCase('cursor stream', async () => {
  const s = client.query(new QueryStream('select generate_series(1, 250) n', [], { batchSize: 40 }))
  let sum = 0
  for await (const r of s) sum += r.n
  show(sum)
})

await testCase('copy', async () => {
  await pipeline(Readable.from(['c1\t5\n', 'c2\t\\N\n']),
    client.query(copyFrom('copy item (sku, price) from stdin')))
  let out = ''
  await pipeline(client.query(copyTo('copy (select sku, price from item order by sku) to stdout')),
    new Writable({ write(b, _, done) { out += b; done() } }))
  console.log(out)
})

await testCase('transaction', async () => {
  await client.query('begin isolation level serializable')
  await client.query('savepoint s')
  await client.query('insert into item (sku) values (\'a\')').catch(e => show(e.code))
  await client.query('rollback to s')
  await q('select count(*) from item')
  await client.query('commit')
}, rollback)

await testCase('pool under contention', async () => {
  const pool = new pg.Pool({ max: 8 })
  await pool.query('create table counter (id int primary key, n int)')
  await pool.query('insert into counter values (1, 0)')
  await Promise.all(Array.from({ length: 24 }, async () => {
    const c = await pool.connect()
    try {
      await c.query('begin')
      const { rows } = await c.query('select n from counter where id = 1 for update')
      await c.query('update counter set n = $1 where id = 1', [rows[0].n + 1])
      await c.query('commit')
    } finally { c.release() }
  }))
  show((await pool.query('select n from counter')).rows)
  await pool.end()
})

await testCase('listen', async () => {
  await client.query('listen ch')
  const got = once(client, 'notification')
  await client.query('select pg_notify($1, $2)', ['ch', 'hello'])
  const [n] = await got
  show([n.channel, n.payload])
})

await testCase('notices', async () => {
  const got = once(client, 'notice')
  await client.query('drop table if exists nothere')
  const [n] = await got
  show([n.severity, n.code, n.message])
})
await client.end()
