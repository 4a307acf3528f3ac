-- name: Create :one
INSERT INTO docs (url, hash, status, tags, meta, price) VALUES ($1, $2, $3, $4, $5, $6) RETURNING *;

-- name: ByHash :many
SELECT id, url FROM docs WHERE hash = $1 ORDER BY id;

-- name: Search :many
SELECT id, url, status FROM docs
WHERE (sqlc.narg('status')::status IS NULL OR status = sqlc.narg('status'))
  AND url = ANY (sqlc.arg('urls')::text[]) ORDER BY id LIMIT sqlc.arg('n');

-- name: Publish :execrows
UPDATE docs SET status = 'live', price = coalesce(price, 0) + $2 WHERE id = $1;

-- name: Load :copyfrom
INSERT INTO docs (url, hash, status, tags) VALUES ($1, $2, $3, $4);

-- name: CountByStatus :many
SELECT status, count(*) AS n, max(price)::numeric AS price FROM docs GROUP BY status ORDER BY status;
