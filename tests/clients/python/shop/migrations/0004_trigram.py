from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("shop", "0003_indexes")]
    operations = [TrigramExtension()]
