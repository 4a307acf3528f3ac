import { DataTypes, Op, Sequelize } from 'sequelize'
import { show, testCase } from './case.js'

const s = new Sequelize(process.env.DATABASE_URL, { logging: false })
const Author = s.define('Author', {
  name: { type: DataTypes.STRING(40), unique: true, allowNull: false },
  mood: { type: DataTypes.ENUM('sad', 'ok'), defaultValue: 'ok' },
  tags: DataTypes.ARRAY(DataTypes.TEXT), doc: DataTypes.JSONB,
  active: { type: DataTypes.BOOLEAN, defaultValue: true }
}, { timestamps: false, indexes: [{ fields: ['mood'], where: { active: true } },
  { fields: [s.fn('lower', s.col('name'))], name: 'lower_name' },
  { fields: ['doc'], using: 'gin' }] })
const Book = s.define('Book', { title: DataTypes.TEXT, price: DataTypes.DECIMAL(8, 2),
  during: DataTypes.RANGE(DataTypes.INTEGER) }, { timestamps: false })
Author.hasMany(Book, { onDelete: 'CASCADE' })
Book.belongsTo(Author)

await testCase('sync', async () => {
  await s.sync({ force: true })
  await s.sync({ alter: true })
  show(await s.getQueryInterface().showAllTables())
  show(await s.getQueryInterface().describeTable('Authors'))
})

await testCase('models', async () => {
  const a = await Author.create({ name: 'Ada', tags: ['x'], doc: { k: { n: 1 } } })
  await Book.bulkCreate([{ title: 'One', price: 1, AuthorId: a.id, during: [1, 5] },
    { title: 'Two', price: 2, AuthorId: a.id }])
  show(await Author.findAll({ include: Book, where: { doc: { k: { n: 1 } } } }))
  show(await Author.findAll({ where: { tags: { [Op.contains]: ['x'] } }, attributes: ['name'] }))
  show(await Book.findAll({ where: { during: { [Op.contains]: 3 } }, attributes: ['title'] }))
  show(await Author.upsert({ name: 'Ada', mood: 'sad' }, { conflictFields: ['name'] })
    .then(([m, c]) => [m.mood, c]))
  show(await Author.findAndCountAll({ where: { name: { [Op.iLike]: 'a%' } }, limit: 1,
    attributes: ['name'] }))
  show(await Book.sum('price'))
  show(await Book.increment({ price: 1 }, { where: { title: 'One' } }))
})

await testCase('find or create', async () => {
  const [m, made] = await Author.findOrCreate({ where: { name: 'New' } })
  show([m.name, made])
  const [n, again] = await Author.findOrCreate({ where: { name: 'New' } })
  show([n.name, again])
})

await testCase('transaction', async () => {
  await s.transaction({ isolationLevel: 'SERIALIZABLE' }, async t => {
    await Author.create({ name: 'T' }, { transaction: t })
    await Author.create({ name: 'T' }, { transaction: t })
  })
})

await testCase('drop', async () => {
  await s.drop()
  show(await s.getQueryInterface().showAllTables())
})
await s.close()
