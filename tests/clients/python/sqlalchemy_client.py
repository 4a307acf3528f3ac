import enum

import sqlalchemy as sa
from case import case
from sqlalchemy import orm
from sqlalchemy.dialects import postgresql as pg

engine = sa.create_engine("postgresql+psycopg2://")
Base = orm.declarative_base()


class Mood(enum.Enum):
    sad = 1
    ok = 2


class Author(Base):
    __tablename__ = "author"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(40), nullable=False, unique=True)
    mood = sa.Column(sa.Enum(Mood, name="mood"), server_default="ok")
    books = orm.relationship("Book", back_populates="author", cascade="all, delete-orphan")


class Book(Base):
    __tablename__ = "book"
    id = sa.Column(sa.Integer, sa.Identity(), primary_key=True)
    author_id = sa.Column(sa.ForeignKey("author.id", ondelete="CASCADE"), index=True)
    title = sa.Column(sa.Text, nullable=False)
    tags = sa.Column(pg.ARRAY(sa.Text), server_default="{}")
    doc = sa.Column(pg.JSONB)
    price = sa.Column(sa.Numeric(8, 2), sa.CheckConstraint("price >= 0", name="price_positive"))
    during = sa.Column(pg.INT4RANGE)
    author = orm.relationship("Author", back_populates="books")
    __table_args__ = (
        sa.Index("book_lower_title", sa.func.lower(sa.text("title"))),
        sa.Index("book_cheap", "price", unique=True, postgresql_where=sa.text("price < 1")),
        sa.Index("book_doc", "doc", postgresql_using="gin"),
        sa.UniqueConstraint("author_id", "title", name="book_once"),
        {"comment": "what an author wrote"},
    )


with case("create all"):
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    print(sorted(sa.inspect(engine).get_table_names()))

with case("core only"):
    # without what the case above may lack
    meta = sa.MetaData()
    plain = sa.Table("plain", meta, sa.Column("id", sa.Integer, primary_key=True),
                     sa.Column("s", sa.String(10)), sa.Column("at", sa.DateTime(timezone=True)))
    meta.create_all(engine)
    with engine.begin() as c:
        print(c.execute(plain.insert().returning(plain.c.id), [{"s": "a"}]).fetchall())
        st = pg.insert(plain).values(id=1, s="b")
        c.execute(st.on_conflict_do_update(index_elements=["id"], set_={"s": st.excluded.s}))
        print(c.execute(sa.select(plain.c.id, plain.c.s)).fetchall())
        print(c.execute(sa.select(sa.func.count()).select_from(plain).where(
            plain.c.s.in_(["a", "b"]))).scalar())

with case("orm"):
    with orm.Session(engine) as s:
        a = Author(name="Ada", mood=Mood.ok, books=[
            Book(title="One", tags=["x"], doc={"k": 1}, price="3.50"),
            Book(title="two", doc={"k": 2}, price="0.50")])
        s.add(a)
        s.commit()
        print(a.id, a.mood, [(b.title, b.tags, b.doc, str(b.price)) for b in a.books])
        q = s.query(Book).join(Author).filter(Author.name == "Ada", Book.doc["k"].astext == "2")
        print([b.title for b in q])
        print(s.query(Book.title).filter(sa.func.lower(Book.title) == "one").all())
        print(s.query(Book.title).filter(Book.tags.contains(["x"])).all())
        s.query(Book).filter(Book.title == "One").update({"price": 4})
        s.delete(a)
        s.commit()
        print(s.query(Book).count())

with case("orm errors"):
    with orm.Session(engine) as s:
        s.add(Book(title="bad", price=-1))
        try:
            s.commit()
        except sa.exc.IntegrityError as e:
            print(e.orig.pgcode, e.orig.diag.constraint_name)

with case("reflection"):
    insp = sa.inspect(engine)
    for t in ("author", "book"):
        for c in insp.get_columns(t):
            print(t, c["name"], c["type"], c["nullable"], c["default"], c.get("identity"))
        print(insp.get_pk_constraint(t), insp.get_foreign_keys(t),
              insp.get_unique_constraints(t), insp.get_check_constraints(t),
              insp.get_table_comment(t))
        for i in sorted(insp.get_indexes(t), key=lambda i: i["name"]):
            print(i)
    print(insp.get_enums(), insp.get_schema_names(), insp.get_view_names(),
          insp.get_sequence_names())

with case("reflected table"):
    t = sa.Table("book", sa.MetaData(), autoload_with=engine)
    print([(c.name, str(c.type)) for c in t.columns])
    print(sa.schema.CreateTable(t).compile(engine))

with case("temporary table"):
    with engine.begin() as c:
        t = sa.Table("tmp", sa.MetaData(), sa.Column("a", sa.Integer), prefixes=["TEMPORARY"],
                     postgresql_on_commit="DROP")
        t.create(c)
        c.execute(t.insert(), [{"a": 1}, {"a": 2}])
        print(c.execute(sa.select(sa.func.sum(t.c.a))).scalar())

with case("savepoints and isolation"):
    with engine.connect().execution_options(isolation_level="SERIALIZABLE") as c:
        with c.begin():
            c.execute(sa.text("create table sp (a int primary key)"))
            try:
                with c.begin_nested():
                    c.execute(sa.text("insert into sp values (1), (1)"))
            except sa.exc.IntegrityError as e:
                print(e.orig.pgcode)
            c.execute(sa.text("insert into sp values (2)"))
    with engine.connect() as c:
        print(c.execute(sa.text("select a from sp")).fetchall())

with case("stream"):
    with engine.connect().execution_options(stream_results=True) as c:
        r = c.execute(sa.text("select generate_series(1, 1000)"))
        print(sum(x[0] for x in r))

with case("two phases"):
    with engine.connect() as c:
        tr = c.begin_twophase()
        c.execute(sa.text("select 1"))
        tr.prepare()
        tr.commit()

with case("drop all"):
    Base.metadata.drop_all(engine)
    print(sorted(sa.inspect(engine).get_table_names()))
