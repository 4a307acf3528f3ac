<?php
// PDO, ext/pgsql and Doctrine's DBAL.
function test_case(string $name, callable $body): void
{
    echo "== $name\n";
    try {
        $body();
    } catch (Throwable $e) {
        $cause = $e;
        while ($cause->getPrevious()) {
            $cause = $cause->getPrevious();
        }
        $state = $cause instanceof PDOException ? $cause->getCode() : get_class($e);
        echo $state, ' ', strtok($cause->getMessage(), "\n"), "\n";
    }
}
function show($v): void
{
    echo json_encode($v), "\n";
}

$db = new PDO('pgsql:', 'postgres', '', [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);

test_case('schema', function () use ($db) {
    $db->exec("create table item (id serial primary key, sku text unique, n numeric(8,2) default 1,
        ok boolean default false, doc jsonb default '{}', raw bytea)");
});
test_case('prepared', function () use ($db) {
    $st = $db->prepare('insert into item (sku, n, ok) values (:s, :n, :o) returning id, n, ok');
    $st->bindValue('s', 'a');
    $st->bindValue('n', 2.5);
    $st->bindValue('o', true, PDO::PARAM_BOOL);
    $st->execute();
    show($st->fetchAll(PDO::FETCH_ASSOC));
    show($db->lastInsertId('item_id_seq'));
    $st = $db->prepare('insert into item (sku, raw) values (?, ?)');
    $st->bindValue(1, 'raw');
    $st->bindValue(2, "\0\xff", PDO::PARAM_LOB);
    $st->execute();
    $st = $db->query("select raw from item where sku = 'raw'");
    show(bin2hex(stream_get_contents($st->fetchColumn())));
    $st = $db->query('select * from item limit 1');
    show(array_map(fn ($i) => array_intersect_key($st->getColumnMeta($i),
        ['name' => 1, 'native_type' => 1, 'len' => 1, 'table' => 1]), range(0, 5)));
});
test_case('simple', function () use ($db) {
    $st = $db->prepare('select ?::text as a, ?::int + 1 as b',
        [PDO::ATTR_EMULATE_PREPARES => true]);
    $st->execute(["it's", 1]);
    show($st->fetch(PDO::FETCH_NUM));
});
test_case('errors', function () use ($db) {
    foreach (['select nope', "insert into item (sku) values ('a')", 'selec', 'select 1/0'] as $q) {
        try {
            $db->query($q);
        } catch (PDOException $e) {
            show([$e->getCode(), $e->errorInfo[2]]);
        }
    }
});
test_case('transaction', function () use ($db) {
    $db->beginTransaction();
    $db->exec("insert into item (sku) values ('t')");
    $db->rollBack();
    show($db->query('select count(*) from item')->fetchColumn());
});
test_case('copy', function () use ($db) {
    show($db->pgsqlCopyFromArray('item', ["c1\t5", "c2\t\\N"], "\t", '\\\\N', 'sku,n'));
    show($db->pgsqlCopyToArray('item', ';'));
});
test_case('cursor', function () use ($db) {
    $db->beginTransaction();
    $st = $db->prepare('select generate_series(1, 5)', [PDO::ATTR_CURSOR => PDO::CURSOR_SCROLL]);
    $st->execute();
    show([$st->fetchColumn(), $st->fetch(PDO::FETCH_NUM, PDO::FETCH_ORI_LAST)]);
    $db->commit();
});
test_case('temporary table', function () use ($db) {
    $db->exec('create temporary table t as select generate_series(1, 3) as a');
    show($db->query('select sum(a) from t')->fetchColumn());
});
test_case('large object', function () use ($db) {
    $db->beginTransaction();
    $oid = $db->pgsqlLOBCreate();
    fwrite($s = $db->pgsqlLOBOpen($oid, 'w'), 'hello');
    $s = null;
    show(stream_get_contents($db->pgsqlLOBOpen($oid, 'r')));
    show($db->pgsqlLOBUnlink($oid));
    $db->commit();
});
test_case('notify', function () use ($db) {
    $db->exec('listen ch');
    $db->exec("notify ch, 'hello'");
    $n = $db->pgsqlGetNotify(PDO::FETCH_ASSOC, 1000);
    show([$n['message'], $n['payload']]);
});

test_case('ext/pgsql', function () {
    $c = pg_connect('');
    show(pg_fetch_all(pg_query_params($c, 'select $1::int + 1 as a, $2 as b', [1, 'x'])));
    show(pg_meta_data($c, 'item'));
    show(pg_insert($c, 'item', ['sku' => 'ins', 'n' => 3]) !== false);
    show(pg_select($c, 'item', ['sku' => 'ins']));
    show(pg_convert($c, 'item', ['sku' => 'x', 'n' => '4']));
    show(@pg_query($c, 'select nope'));
    show(pg_last_error($c));
    show(pg_field_type(pg_query($c, 'select 1::numeric'), 0));
    pg_prepare($c, 'p', 'select $1::text');
    show(pg_fetch_result(pg_execute($c, 'p', ['y']), 0, 0));
    show(pg_copy_to($c, 'item', ',') !== false);
    show(pg_version($c)['server'] ? 'server' : '');
});

require '/usr/share/php/Doctrine/DBAL/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Schema\Schema;

$dbal = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'),
    'port' => getenv('PGPORT'), 'user' => 'postgres', 'dbname' => getenv('PGDATABASE')]);
$schema = new Schema();
$usr = $schema->createTable('usr');
$usr->addColumn('id', 'integer', ['autoincrement' => true]);
$usr->addColumn('email', 'string', ['length' => 60, 'default' => 'x']);
$usr->addColumn('active', 'boolean', ['default' => false]);
$usr->addColumn('doc', 'json', ['platformOptions' => ['jsonb' => true], 'notnull' => false]);
$usr->addColumn('price', 'decimal', ['precision' => 8, 'scale' => 2, 'default' => 0]);
$usr->addColumn('made', 'datetimetz', ['default' => 'CURRENT_TIMESTAMP']);
$usr->addColumn('g', 'guid', ['notnull' => false, 'comment' => 'a guid']);
$usr->setPrimaryKey(['id']);
$usr->addUniqueIndex(['email'], 'usr_email');
$usr->addIndex(['price'], 'usr_cheap', [], ['where' => '(price < (1)::numeric)']);
$post = $schema->createTable('post');
$post->addColumn('id', 'bigint', ['autoincrement' => true]);
$post->addColumn('usr_id', 'integer');
$post->addColumn('body', 'text', ['default' => '']);
$post->setPrimaryKey(['id']);
$post->addForeignKeyConstraint('usr', ['usr_id'], ['id'], ['onDelete' => 'CASCADE']);

test_case('dbal: schema', function () use ($dbal, $schema) {
    foreach ($schema->toSql($dbal->getDatabasePlatform()) as $q) {
        $dbal->executeStatement($q);
    }
    $names = $dbal->createSchemaManager()->listTableNames();
    sort($names);
    show($names);
});
test_case('dbal: diff of an unchanged schema', function () use ($dbal, $schema) {
    $m = $dbal->createSchemaManager();
    $now = $m->introspectSchema();
    foreach ($now->getTables() as $t) {
        if (!in_array($t->getName(), ['public.usr', 'usr', 'post', 'public.post'])) {
            $now->dropTable($t->getName());
        }
    }
    $diff = $m->createComparator()->compareSchemas($now, $schema);
    show(array_values(array_filter($diff->toSql($dbal->getDatabasePlatform()),
        fn ($q) => !str_contains($q, 'SEQUENCE') && !str_contains($q, 'SCHEMA'))));
});
test_case('dbal: queries', function () use ($dbal) {
    show($dbal->insert('usr', ['email' => 'a@b', 'active' => true], ['active' => 'boolean']));
    show($dbal->fetchAllAssociative('select email, active, price from usr where email in (?)',
        [['a@b', 'c']], [Doctrine\DBAL\ArrayParameterType::STRING]));
    $q = $dbal->createQueryBuilder()->select('count(*)')->from('usr', 'u')
        ->leftJoin('u', 'post', 'p', 'p.usr_id = u.id')->where('u.email like :e')
        ->setParameter('e', 'a%');
    show($q->executeQuery()->fetchOne());
    $dbal->transactional(function ($c) {
        $c->update('usr', ['price' => '3.5'], ['email' => 'a@b']);
    });
    show($dbal->fetchOne('select price from usr'));
});
test_case('dbal: columns', function () use ($dbal) {
    foreach ($dbal->createSchemaManager()->listTableColumns('usr') as $c) {
        show([$c->getName(), get_class($c->getType()), $c->getDefault(), $c->getNotnull(),
            $c->getComment()]);
    }
    $indexes = $dbal->createSchemaManager()->listTableIndexes('usr');
    ksort($indexes);
    foreach ($indexes as $i) {
        show([$i->getName(), $i->getColumns(), $i->isUnique(), $i->getOptions()]);
    }
});
