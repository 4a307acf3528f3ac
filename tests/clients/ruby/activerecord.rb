# frozen_string_literal: true

require "active_record"
require "stringio"

ActiveRecord::Base.logger = nil
ActiveRecord::Migration.verbose = false

def test_case(name)
  puts "== #{name}"
  yield
rescue StandardError => e
  state = e.cause.respond_to?(:result) && e.cause.result&.error_field(PG::Result::PG_DIAG_SQLSTATE)
  puts "#{state || e.class} #{e.message.lines.first&.strip}"
ensure
  $stdout.flush
end

ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ENV["PGHOST"],
                                        port: ENV["PGPORT"], username: "postgres",
                                        database: ENV["PGDATABASE"], pool: 8)
CONN = ActiveRecord::Base.connection

class CreateShop < ActiveRecord::Migration[6.1]
  def change
    create_table :authors, comment: "who writes" do |t|
      t.string :name, limit: 40, null: false, default: "nobody"
      t.boolean :admin, default: false, null: false
      t.jsonb :doc, default: {}
      t.string :tags, array: true, default: []
      t.decimal :price, precision: 8, scale: 2, default: 1.5
      t.date :born
      t.timestamps default: -> { "now()" }
      t.index :name, unique: true
    end
    create_table :books do |t|
      t.references :author, foreign_key: { on_delete: :cascade }
      t.text :title, null: false
      t.uuid :u, default: -> { "gen_random_uuid()" }
      t.check_constraint "length(title) > 0", name: "title_not_empty"
    end
  end
end

class IndexShop < ActiveRecord::Migration[6.1]
  def change
    enable_extension "pg_trgm"
    add_index :books, "lower(title)", name: "books_lower"
    add_index :books, :title, where: "author_id is not null", name: "books_partial"
    add_index :authors, :doc, using: :gin
    add_column :authors, :address, :inet
    add_column :books, :during, :int4range
    execute "create type mood as enum ('sad', 'ok')"
    add_column :authors, :mood, :mood, default: "ok"
  end
end

class AlterShop < ActiveRecord::Migration[6.1]
  def change
    rename_column :books, :title, :name
    change_column_null :books, :author_id, false
    change_column_default :authors, :name, from: "nobody", to: "anon"
    rename_table :books, :volumes
    add_timestamps :volumes, null: true
    reversible { |d| d.up { change_column :authors, :name, :text } }
  end
end

class Author < ActiveRecord::Base
  has_many :books
end

class Book < ActiveRecord::Base
  belongs_to :author
end

test_case("first migration") { CreateShop.new.migrate(:up) }

test_case("models") do
  a = Author.create!(name: "Ada", doc: { k: { n: 1 } }, tags: %w[x y], born: "1815-12-10")
  p a.id, a.admin, a.price, a.tags, a.doc
  p Author.columns.map { |c| [c.name, c.sql_type, c.default, c.null, c.default_function] }
  Book.insert_all!([{ author_id: a.id, title: "One" }, { author_id: a.id, title: "Two" }])
  p Author.joins(:books).group(:name).count
  p Author.where("doc -> 'k' ->> 'n' = ?", "1").pluck(:name)
  p Author.where("tags @> ARRAY[?]::varchar[]", ["x"]).exists?
  p Author.includes(:books).flat_map { |x| x.books.map(&:title) }.sort
  p Book.order(:title).limit(1).offset(1).pluck(:title)
  p Author.upsert({ name: "Ada", price: 3 }, unique_by: :name).rows.size,
    Author.find_by(name: "Ada").price
  p Author.find_or_create_by(name: "Bob").persisted?
  p Book.in_batches(of: 1).map { |b| b.pluck(:title) }
end

test_case("errors") do
  Author.create!(name: "Ada")
end

test_case("transactions") do
  Author.transaction(isolation: :serializable) do
    Author.create!(name: "T")
    Author.transaction(requires_new: true) do
      Author.create!(name: "U")
      raise ActiveRecord::Rollback
    end
  end
  p Author.order(:name).pluck(:name)
end

test_case("locks") do
  a = Author.find_by!(name: "Ada")
  a.update!(price: 0)
  threads = 4.times.map do
    Thread.new do
      5.times { Author.transaction { x = Author.lock.find(a.id); x.update!(price: x.price + 1) } }
      ActiveRecord::Base.clear_active_connections!
    end
  end
  threads.each(&:join)
  p a.reload.price
end

test_case("introspection") do
  p CONN.tables, CONN.indexes("authors").map { |i| [i.name, i.columns, i.unique, i.where, i.using] }
  p CONN.foreign_keys("books").map { |f| [f.from_table, f.to_table, f.on_delete] }
  p CONN.check_constraints("books").map { |c| [c.name, c.expression] }
  p CONN.primary_key("books"), CONN.table_comment("authors")
end

def dump
  out = StringIO.new
  ActiveRecord::SchemaDumper.dump(CONN, out)
  puts out.string
end

test_case("schema dump") { dump }

test_case("second migration") do
  IndexShop.new.migrate(:up)
  Author.reset_column_information
  Author.create!(name: "In", address: "10.0.0.1", mood: "sad")
  p Author.where(mood: "sad").pluck(:name, :address)
end

test_case("third migration") { AlterShop.new.migrate(:up) }
test_case("schema dump after them") { dump }

test_case("prepared statement after a change") do
  3.times { Author.find_by(name: "Ada") }
  CONN.add_column :authors, :extra, :integer
  p Author.find_by(name: "Ada").name
end

test_case("without triggers, as fixtures are loaded") do
  CONN.disable_referential_integrity { p Author.count }
end

test_case("advisory lock") do
  p CONN.get_advisory_lock(42), CONN.release_advisory_lock(42)
end

test_case("explain") { p Author.where(id: 1).explain.include?("EXPLAIN for") }
