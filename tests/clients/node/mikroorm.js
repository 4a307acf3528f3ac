import { EntitySchema, MikroORM } from '@mikro-orm/postgresql'
import { show, testCase } from './case.js'

const Author = new EntitySchema({ name: 'Author', tableName: 'author', properties: {
  id: { type: 'number', primary: true, autoincrement: true },
  name: { type: 'string', length: 40, unique: true },
  mood: { enum: true, items: ['sad', 'ok'], default: 'ok' },
  kind: { enum: true, items: ['x', 'y'], nativeEnumName: 'author_kind', default: 'x' },
  active: { type: 'boolean', default: false },
  doc: { type: 'json', nullable: true },
  tags: { type: 'string[]', default: [] },
  price: { type: 'decimal', precision: 8, scale: 2, default: 0 },
  made: { type: 'datetime', length: 3, defaultRaw: 'now()', hidden: true },
  books: { kind: '1:m', entity: 'Book', mappedBy: 'author' } } })
const Book = new EntitySchema({ name: 'Book', tableName: 'book', properties: {
  id: { type: 'number', primary: true, autoincrement: true },
  title: { type: 'text' },
  author: { kind: 'm:1', entity: 'Author', deleteRule: 'cascade', nullable: true } } })

const orm = await MikroORM.init({ clientUrl: process.env.DATABASE_URL, entities: [Author, Book],
  allowGlobalContext: true, ensureDatabase: false, discovery: { warnWhenNoEntities: false } })

await testCase('schema and its diff', async () => {
  await orm.schema.updateSchema()
  show(await orm.schema.getUpdateSchemaSQL())
})

await testCase('entities', async () => {
  const em = orm.em.fork()
  const a = em.create('Author', { name: 'Ada', doc: { k: 1 }, tags: ['x'] })
  em.create('Book', { title: 'One', author: a })
  await em.flush()
  const got = await orm.em.fork().find('Author', { name: { $ilike: 'a%' } },
    { populate: ['books'] })
  show(got)
  show(await orm.em.fork().upsert('Author', { name: 'Ada', mood: 'sad' }).then(x => x.mood))
  show(await em.createQueryBuilder('Book', 'b').leftJoin('b.author', 'a').count().execute('get'))
  await em.removeAndFlush(a)
  show(await em.count('Book'))
})

await testCase('transaction', async () => {
  await orm.em.fork().transactional(async em => {
    em.create('Author', { name: 'T' })
    await em.flush()
    em.create('Author', { name: 'T' })
  })
})

await testCase('drop', async () => { await orm.schema.dropSchema() })
await orm.close()
