use strict;
use warnings;
use DBI;
use DBD::Pg qw(:pg_types :async);

$| = 1;
my $db = DBI->connect("dbi:Pg:dbname=$ENV{PGDATABASE}", "postgres", "",
    { RaiseError => 1, PrintError => 0, AutoCommit => 1, PrintWarn => 0 });

sub test_case {
    my ($name, $body) = @_;
    print "== $name\n";
    eval { $body->(); 1 } or do {
        my $message = (split /\n/, $@)[0];
        $message =~ s/ at \S+ line \d+\.?$//;
        print(($db->state // ''), " $message\n");
        eval { $db->rollback } unless $db->{AutoCommit};
        $db->{AutoCommit} = 1;
    };
}

sub show {
    for my $row (@{ $_[0] }) {
        print join("|", map {
            ref $_ ? "{" . join(",", map { $_ // 'undef' } @$_) . "}" : $_ // 'undef'
        } @$row), "\n";
    }
}

sub q_ { show($db->selectall_arrayref(shift, undef, @_)) }

test_case('schema', sub {
    $db->do("create table author (id serial primary key, " .
        "name varchar(40) unique not null default 'x', tags text[], doc jsonb)");
    $db->do("create table book (id int primary key, author int references author, title text, " .
        "primary_ int check (primary_ > 0))");
    $db->do("create index book_title on book (title)");
    $db->do("comment on table book is 'what is read'");
});
test_case('placeholders', sub {
    my $st = $db->prepare("insert into author (name, tags) values (?, ?) returning id");
    for (["Ada", ["x", undef]], ["Bob", undef]) { $st->execute(@$_); show($st->fetchall_arrayref) }
    q_("select name, tags from author order by id");
    q_('select $1::int + $2::int', 1, 2);
    print $db->last_insert_id(undef, undef, "author", undef), "\n";
});
test_case('bytea', sub {
    my $st = $db->prepare("select ?::bytea, length(?::bytea)");
    $st->bind_param($_, "\0\xff", { pg_type => PG_BYTEA }) for 1, 2;
    $st->execute;
    my @row = $st->fetchrow_array;
    print unpack("H*", $row[0]), " $row[1]\n";
});
test_case('errors', sub {
    for my $q ("select nope", "insert into author (name) values ('Ada')", "selec", "select 1/0") {
        eval { $db->do($q) };
        print $db->state, " ", (split /\n/, $db->errstr)[0], "\n";
    }
});
test_case('transactions', sub {
    $db->begin_work;
    $db->do("insert into author (name) values ('T')");
    $db->pg_savepoint('s');
    eval { $db->do("insert into author (name) values ('T')") };
    $db->pg_rollback_to('s');
    $db->commit;
    q_("select count(*) from author");
});
test_case('table_info', sub {
    my $st = $db->table_info(undef, 'public', undef, 'TABLE');
    show([map { [@$_[1 .. 4]] } @{ $st->fetchall_arrayref }]);
});
test_case('column_info', sub {
    my $st = $db->column_info(undef, 'public', 'author', undef);
    my @names = qw(COLUMN_NAME TYPE_NAME COLUMN_SIZE NULLABLE COLUMN_DEF ORDINAL_POSITION);
    show([map { [@{$_}{@names}] } @{ $st->fetchall_arrayref({}) }]);
});
test_case('primary_key_info', sub {
    print join(",", $db->primary_key(undef, 'public', 'author')), "\n";
});
test_case('foreign_key_info', sub {
    my $st = $db->foreign_key_info(undef, 'public', 'author', undef, 'public', 'book');
    my @names = qw(UK_TABLE_NAME UK_COLUMN_NAME FK_TABLE_NAME FK_COLUMN_NAME);
    show([map { [@{$_}{@names}] } @{ $st->fetchall_arrayref({}) }]);
});
test_case('statistics_info', sub {
    my $st = $db->statistics_info(undef, 'public', 'book', 0, 0);
    my @names = qw(INDEX_NAME TYPE COLUMN_NAME NON_UNIQUE ORDINAL_POSITION ASC_OR_DESC);
    show([map { [@{$_}{@names}] } grep { $_->{INDEX_NAME} } @{ $st->fetchall_arrayref({}) }]);
});
test_case('type_info', sub {
    for my $name (qw(SQL_INTEGER SQL_VARCHAR SQL_BOOLEAN SQL_NUMERIC)) {
        my $type = $db->type_info(DBI->can($name)->());
        my @values = @$type{qw(TYPE_NAME DATA_TYPE COLUMN_SIZE NULLABLE)};
        print join('|', map { $_ // '' } @values), "\n";
    }
    print scalar(@{ $db->type_info_all }) > 10 ? 'many' : 'few', "\n";
});
test_case('copy', sub {
    $db->do("copy book (id, title) from stdin");
    $db->pg_putcopydata("1\tOne\n");
    $db->pg_putcopydata("2\t\\N\n");
    $db->pg_putcopyend;
    $db->do("copy (select id, title from book order by id) to stdout");
    my $line;
    print $line while $db->pg_getcopydata($line) >= 0;
});
test_case('temporary table', sub {
    $db->do("create temp table t (a int)");
    $db->do("insert into t values (1), (2)");
    q_("select sum(a) from t");
});
test_case('large objects', sub {
    $db->begin_work;
    my $id = $db->pg_lo_creat($db->{pg_INV_WRITE} // 0x20000 | 0x40000);
    my $fd = $db->pg_lo_open($id, 0x20000 | 0x40000);
    print $db->pg_lo_write($fd, "hello", 5), "\n";
    $db->pg_lo_lseek($fd, 1, 0);
    my $buffer = '';
    $db->pg_lo_read($fd, $buffer, 10);
    print "$buffer\n";
    $db->pg_lo_close($fd);
    $db->pg_lo_unlink($id);
    $db->commit;
});
test_case('notify', sub {
    $db->do("listen ch");
    $db->do("notify ch, 'hello'");
    my $n = $db->pg_notifies;
    print "$n->[0] $n->[2]\n";
});
test_case('asynchronous', sub {
    $db->do("select 1 as a", { pg_async => PG_ASYNC });
    print $db->pg_result, "\n";
    $db->do("select pg_sleep(30)", { pg_async => PG_ASYNC });
    print $db->pg_cancel, "\n";
});
$db->disconnect;
