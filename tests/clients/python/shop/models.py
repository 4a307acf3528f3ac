from django.contrib.postgres import fields as pgfields
from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=40, unique=True)
    price = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    active = models.BooleanField(default=True)
    made = models.DateField(null=True)
    doc = models.JSONField(default=dict)
    tags = pgfields.ArrayField(models.CharField(max_length=10), default=list)
    colour = models.CharField(max_length=10, default="red")

    class Meta:
        app_label = "shop"


class Order(models.Model):
    item = models.ForeignKey(Item, on_delete=models.CASCADE)
    n = models.BigIntegerField()

    class Meta:
        app_label = "shop"
