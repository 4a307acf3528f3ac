import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { show, testCase } from './case.js'

const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ max: 2 }) }) })

await testCase('schema', async () => {
  await db.schema.createTable('person').addColumn('id', 'serial', c => c.primaryKey())
    .addColumn('name', 'varchar(40)', c => c.notNull().unique())
    .addColumn('age', 'int4', c => c.check(sql`age > 0`)).execute()
  await db.schema.createIndex('person_age').on('person').column('age')
    .where('age', '>', 18).execute()
  await db.schema.createType('species').asEnum(['dog', 'cat']).execute()
  await db.schema.createView('adults').as(db.selectFrom('person').selectAll()).execute()
  show(await db.introspection.getTables())
})

await testCase('queries', async () => {
  show(await db.insertInto('person').values([{ name: 'a', age: 20 }, { name: 'b', age: 3 }])
    .returningAll().execute())
  show(await db.insertInto('person').values({ name: 'a', age: 9 })
    .onConflict(c => c.column('name').doUpdateSet({ age: eb => eb.ref('excluded.age') }))
    .returning('age').execute())
  show(await db.selectFrom('person').select(eb => [eb.fn.countAll().as('n'),
    eb.fn.max('age').as('m')]).execute())
  show(await db.with('c', d => d.selectFrom('person').select('age')).selectFrom('c')
    .selectAll().orderBy('age').execute())
  show(await db.updateTable('person').from('person as p').set({ age: 99 })
    .whereRef('person.id', '=', 'p.id').where('p.name', '=', 'b').returning('person.age').execute())
  show(await db.selectFrom('person').distinctOn('age').select('name').orderBy('age').execute())
})

await testCase('merge', async () => {
  const r = await db.mergeInto('person').using('person as s', 'person.id', 's.id')
    .whenMatchedAnd('s.name', '=', 'a').thenUpdateSet({ age: 1 })
    .whenMatched().thenDelete().executeTakeFirst()
  show(r.numChangedRows)
  show(await db.selectFrom('person').select(['name', 'age']).execute())
})

await testCase('transaction', async () => {
  await db.transaction().setIsolationLevel('serializable').execute(async t => {
    await t.insertInto('person').values({ name: 't', age: 1 }).execute()
    await t.insertInto('person').values({ name: 't', age: 1 }).execute()
  })
})
await db.destroy()
