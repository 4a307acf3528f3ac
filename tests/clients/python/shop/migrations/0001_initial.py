from django.contrib.postgres import fields as pgfields
from django.db import migrations, models

FIELDS = [
    ("id", models.BigAutoField(primary_key=True, auto_created=True, serialize=False,
                               verbose_name="ID")),
    ("name", models.CharField(max_length=40, unique=True)),
    ("price", models.DecimalField(max_digits=8, decimal_places=2, default=0)),
    ("active", models.BooleanField(default=True)),
    ("made", models.DateField(null=True)),
    ("doc", models.JSONField(default=dict)),
    ("tags", pgfields.ArrayField(models.CharField(max_length=10), default=list)),
]


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel("Item", FIELDS),
        migrations.CreateModel("Order", [
            ("id", models.BigAutoField(primary_key=True, auto_created=True, serialize=False)),
            ("item", models.ForeignKey("shop.Item", on_delete=models.CASCADE)),
            ("n", models.IntegerField(db_index=True)),
        ]),
    ]
