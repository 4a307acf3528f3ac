import 'reflect-metadata'
import { DataSource, EntitySchema } from 'typeorm'
import { show, testCase } from './case.js'

const Author = new EntitySchema({ name: 'Author', tableName: 'author', columns: {
  id: { type: 'uuid', primary: true, generated: 'uuid' },
  name: { type: 'varchar', length: 40, unique: true },
  mood: { type: 'enum', enum: ['sad', 'ok'], default: 'ok' },
  tags: { type: 'text', array: true, default: '{}' },
  doc: { type: 'jsonb', default: {} },
  active: { type: 'boolean', default: false },
  born: { type: 'date', nullable: true }
}, relations: { books: { type: 'one-to-many', target: 'Book', inverseSide: 'author' } } })
const Book = new EntitySchema({ name: 'Book', tableName: 'book', columns: {
  id: { type: 'int', primary: true, generated: 'increment' },
  title: { type: 'text' }, price: { type: 'numeric', precision: 8, scale: 2, default: 0 },
  made: { type: 'timestamptz', createDate: true, select: false }
}, indices: [{ name: 'cheap', columns: ['price'], where: 'price < 1' }],
relations: { author: { type: 'many-to-one', target: 'Author', onDelete: 'CASCADE' } } })

const ds = new DataSource({ type: 'postgres', url: process.env.DATABASE_URL,
  entities: [Author, Book], migrations: [] })
await ds.initialize()

await testCase('synchronize', async () => {
  await ds.synchronize()
  const log = await ds.driver.createSchemaBuilder().log()
  show(log.upQueries.map(q => q.query))
})

await testCase('repository', async () => {
  const authors = ds.getRepository('Author')
  const a = await authors.save({ name: 'Ada', tags: ['x'], doc: { k: 1 }, born: '1815-12-10' })
  await ds.getRepository('Book').save([{ title: 'One', price: '2', author: a },
    { title: 'Two', author: a }])
  const got = await authors.find({ relations: { books: true }, order: { books: { title: 'ASC' } } })
  show(got.map(({ id, ...rest }) => rest))
  await authors.upsert({ name: 'Ada', mood: 'sad' }, ['name'])
  show(await authors.countBy({ mood: 'sad' }))
  show(await ds.getRepository('Book').createQueryBuilder('b').select('sum(b.price)', 's')
    .innerJoin('b.author', 'a').where('a.name = :n', { n: 'Ada' }).getRawOne())
  show(await ds.getRepository('Book').findAndCount({ take: 1, skip: 1, order: { id: 'ASC' } }))
})

await testCase('transaction and locks', async () => {
  await ds.transaction('SERIALIZABLE', async m => {
    show((await m.getRepository('Book').findOne({ where: { id: 1 },
      lock: { mode: 'pessimistic_write' } })).title)
    await m.save('Author', { name: 'Ada' })
  })
})

await testCase('query runner', async () => {
  const r = ds.createQueryRunner()
  const t = await r.getTable('book')
  show(t.columns.map(c => [c.name, c.type, c.default, c.isNullable]))
  show(t.indices.map(i => [i.name, i.where]))
  show(t.foreignKeys.map(f => [f.columnNames, f.onDelete]))
  await r.release()
})

await testCase('drop', async () => {
  await ds.dropDatabase()
  show(await ds.query('select count(*)::int from information_schema.tables where table_schema = $1',
    ['public']))
})
await ds.destroy()
