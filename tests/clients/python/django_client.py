import io
import os

import django
from case import case
from django.conf import settings

settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql",
                           "NAME": os.environ["PGDATABASE"], "HOST": os.environ["PGHOST"],
                           "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"],
                           "TEST": {"NAME": os.environ["PGDATABASE"] + "_test"}}},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions",
                    "django.contrib.postgres", "shop"],
    USE_TZ=True, SECRET_KEY="x",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField")

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import Count, F, Max, Sum, Window  # noqa: E402
from django.db.models.functions import RowNumber, TruncMonth, Upper  # noqa: E402

from shop.models import Item, Order  # noqa: E402


def command(*args, **kw):
    out = io.StringIO()
    call_command(*args, stdout=out, no_color=True, **kw)
    print(out.getvalue())


for step in ["0001", "0002", "0003", "0004"]:
    with case("migrate shop " + step):
        command("migrate", "shop", step, verbosity=1)

with case("migrate the rest"):
    command("migrate", verbosity=1)
    command("showmigrations")

with case("orm"):
    a = Item.objects.create(name="Apple", price="1.50", doc={"k": {"n": 1}}, tags=["x", "y"])
    b = Item.objects.create(name="bean", price="2.25", made="2024-02-29")
    Order.objects.bulk_create([Order(item=a, n=1), Order(item=a, n=2), Order(item=b, n=20)])
    print(list(Item.objects.annotate(c=Count("order"), m=Max("order__n")).order_by("name")
               .values_list("name", "c", "m")))
    print(list(Item.objects.filter(doc__k__n=1).values_list("name", flat=True)))
    print(list(Item.objects.filter(doc__has_key="k").values_list("name", flat=True)))
    print(list(Item.objects.filter(tags__contains=["x"]).values_list("name", flat=True)))
    print(list(Item.objects.filter(tags__overlap=["y", "z"]).values_list("name", flat=True)))
    print(list(Item.objects.filter(name__icontains="APP").values_list("name", flat=True)))
    print(list(Item.objects.filter(made__year=2024).annotate(u=Upper("name"))
               .values_list("u", flat=True)))
    print(list(Order.objects.annotate(r=Window(RowNumber(), partition_by=F("item"),
                                               order_by=F("n").desc()))
               .order_by("id").values_list("n", "r")))
    print(Order.objects.filter(item__name="Apple").update(n=F("n") + 100))
    print(Order.objects.aggregate(Sum("n")))
    print(list(Item.objects.annotate(m=TruncMonth("made")).order_by("id").values_list("m")))
    print(Item.objects.get_or_create(name="Apple")[1],
          Item.objects.update_or_create(name="Pear", defaults={"price": 3})[1])
    print(Item.objects.order_by("name").distinct("active").values_list("name") and "distinct")
    print(Item.objects.bulk_create([Item(name="Apple")], ignore_conflicts=True) and "ignored")
    print(list(Item.objects.order_by("id")[:2].union(Item.objects.filter(name="Pear"))
               .values_list("name", flat=True).order_by("name")))
    print(a.delete())

with case("transactions"):
    from django.db import IntegrityError
    with transaction.atomic():
        Item.objects.create(name="In")
        try:
            with transaction.atomic():
                Item.objects.create(name="In")
        except IntegrityError as e:
            print(e.__cause__.pgcode)
        print(Item.objects.select_for_update().get(name="In").name)
        print(Item.objects.select_for_update(skip_locked=True).filter(name="In").count())

with case("iterator"):
    with transaction.atomic():
        print([i.name for i in Item.objects.order_by("name").iterator(chunk_size=1)])

with case("introspection"):
    with connection.cursor() as c:
        print(connection.introspection.table_names(c))
        for t in ("shop_item", "shop_order"):
            for name, info in sorted(connection.introspection.get_constraints(c, t).items()):
                info.pop("options", None)
                print(t, name.split("_")[0:2], sorted(info.items(), key=str))
            print([(d.name, d.type_code, d.null_ok, d.default) for d in
                   connection.introspection.get_table_description(c, t)])
            print(connection.introspection.get_relations(c, t),
                  connection.introspection.get_sequences(c, t))

with case("inspectdb"):
    command("inspectdb")

with case("trigram and search"):
    print(Item.objects.filter(name__trigram_similar="Peas").count())

with case("sqlsequencereset, flush"):
    command("sqlsequencereset", "shop")
    command("flush", interactive=False)
    print(Item.objects.count())

with case("migrate back"):
    command("migrate", "shop", "zero", verbosity=1)

with case("test database"):
    from django.test.utils import get_runner
    from django.test.utils import setup_test_environment, teardown_test_environment
    setup_test_environment()
    runner = get_runner(settings)(verbosity=0, interactive=False)
    old = runner.setup_databases()
    print(connection.settings_dict["NAME"].endswith("_test"), Item.objects.count())
    runner.teardown_databases(old)
    teardown_test_environment()
