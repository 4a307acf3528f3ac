-- Everything that minidb has. The roles of roles.sql must be there.
\ir types.sql
\ir relations.sql
\ir views.sql
