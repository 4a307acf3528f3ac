from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.models import Q
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    dependencies = [("shop", "0002_change")]
    operations = [
        migrations.AlterUniqueTogether("Order", set()),
        migrations.AddConstraint("Order", models.UniqueConstraint(
            fields=["item"], condition=Q(n__gt=10), name="big_once")),
        migrations.AddIndex("Item", models.Index(Lower("name"), name="item_lower_name")),
        migrations.AddIndex("Item", GinIndex(fields=["doc"], name="item_doc")),
    ]
