CREATE TYPE status AS ENUM ('draft', 'live');

CREATE TABLE docs (
    id bigserial PRIMARY KEY,
    url text NOT NULL UNIQUE,
    hash bytea NOT NULL,
    status status NOT NULL DEFAULT 'draft',
    tags text[] NOT NULL DEFAULT '{}',
    meta jsonb,
    price numeric(8, 2),
    made timestamptz NOT NULL DEFAULT '2024-01-01 00:00:00+00'
);
CREATE INDEX docs_hash ON docs (hash);
