import Knex from 'knex'
import { show, testCase } from './case.js'

const knex = Knex({ client: 'pg', connection: {}, pool: { min: 0, max: 4 } })

await testCase('schema builder', async () => {
  await knex.schema.createTable('author', t => {
    t.increments('id')
    t.string('name', 40).notNullable().unique()
    t.enu('mood', ['sad', 'ok'], { useNative: true, enumName: 'mood' }).defaultTo('ok')
    t.timestamps(true, true)
    t.comment('who writes')
  })
  await knex.schema.createTable('book', t => {
    t.bigIncrements('id')
    t.integer('author_id').references('author.id').onDelete('cascade').index()
    t.text('title').notNullable()
    t.jsonb('doc').defaultTo('{}')
    t.specificType('tags', 'text[]')
    t.decimal('price', 8, 2).checkPositive()
    t.uuid('u').defaultTo(knex.fn.uuid())
    t.unique(['author_id', 'title'], { predicate: knex.whereRaw('price > 1') })
  })
  show(await knex.schema.hasTable('book'))
  show(await knex('book').columnInfo())
})

await testCase('alter', async () => {
  await knex.schema.alterTable('book', t => {
    t.renameColumn('u', 'uid')
    t.string('isbn')
    t.text('title').nullable().alter()
    t.dropColumn('tags')
  })
  show(Object.keys(await knex('book').columnInfo()).sort())
})

await testCase('queries', async () => {
  show(await knex('author').insert([{ name: 'Ada' }, { name: 'Bob' }]).returning(['id', 'name']))
  show(await knex('author').insert({ name: 'Ada' }).onConflict('name').merge({ mood: 'sad' })
    .returning(['name', 'mood']))
  show((await knex('author').insert({ name: 'Ada' }).onConflict('name').ignore()).rowCount)
  await knex('book').insert([{ author_id: 1, title: 'One', price: 2, doc: { k: [1, 2] } },
    { author_id: 2, title: 'Two', price: 3 }])
  show(await knex('book').join('author', 'author.id', 'book.author_id')
    .select('title', 'name').orderBy('title'))
  show(await knex('book').whereJsonPath('doc', '$.k[0]', '=', 1).select('title'))
  show(await knex('book').jsonExtract('doc', '$.k', 'k').orderBy('id'))
  show(await knex('book').where('title', 'ilike', 'o%').count('* as n'))
  show(await knex.with('c', knex('book').select('price')).from('c').sum('price as s'))
  show(await knex('book').update({ price: knex.raw('price + 1') }).where({ title: 'One' })
    .returning('price'))
  show(await knex('book').select('title', knex.raw(
    'row_number() over (order by price desc, title) r')).orderBy('title'))
})

await testCase('materialized view', async () => {
  await knex.schema.createMaterializedView('mv', v => {
    v.columns(['title'])
    v.as(knex('book').select('title'))
  })
  await knex.schema.refreshMaterializedView('mv')
  show(await knex('mv').orderBy('title'))
})

await testCase('transaction', async () => {
  await knex.transaction(async t => {
    await t('author').insert({ name: 'T' })
    await t.transaction(async u => { await u('author').insert({ name: 'T' }) })
      .catch(e => show(e.code))
    show(await t('author').where({ name: 'T' }).forUpdate().select('name'))
  })
})

await testCase('migrations', async () => {
  const source = { getMigrations: async () => ['1_a', '2_b'], getMigrationName: n => n,
    getMigration: async n => ({ up: k => k.schema.createTable('m' + n[0], t => t.increments()),
      down: k => k.schema.dropTable('m' + n[0]) }) }
  show((await knex.migrate.latest({ migrationSource: source }))[1])
  show((await knex.migrate.rollback({ migrationSource: source }))[1])
})
await knex.destroy()
