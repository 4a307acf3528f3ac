from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_initial")]
    operations = [
        migrations.AddField("Item", "color", models.CharField(max_length=10, default="red")),
        migrations.AlterField("Order", "n", models.BigIntegerField()),
        migrations.AlterUniqueTogether("Order", {("item", "n")}),
        migrations.RenameField("Item", "color", "colour"),
        migrations.AddConstraint("Order", models.CheckConstraint(check=Q(n__gte=0), name="n_pos")),
    ]
