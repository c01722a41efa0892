#include "store/postgres/postgres_cluster_sql.h"

#include "store/postgres/postgres_schema.h"

#include <string.h>

/* How long the end of a claim is remembered for those who follow it. */
#define END_KEPT_MS 60000

bool pg_cluster_is_per_node(enum record_kind kind)
{
    return kind == RECORD_DAY || kind == RECORD_TALLY || kind == RECORD_SPENT ||
           kind == RECORD_LETTER;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* A node's row is read by each of its batches and updated by each beat: only a change of the columns of a unique index
 * waits for those who read it, and there must be one with the incarnation, or nothing is fenced. */
static const char tables[] =
    "CREATE TABLE IF NOT EXISTS node (\n"
    "    id bigint PRIMARY KEY, incarnation bigint NOT NULL, beat bigint NOT NULL,\n"
    "    name text COLLATE \"C\" NOT NULL UNIQUE, state text NOT NULL, slots bigint NOT NULL,\n"
    "    pools bigint NOT NULL, since bigint NOT NULL, UNIQUE (id, incarnation)\n"
    ") WITH (fillfactor = 10);\n"
    "CREATE TABLE IF NOT EXISTS progress (\n"
    "    node bigint PRIMARY KEY, batch bigint NOT NULL) WITH (fillfactor = 10);\n"
    "CREATE TABLE IF NOT EXISTS claim (\n"
    "    name bytea PRIMARY KEY, flight bigint NOT NULL, owner bigint NOT NULL\n"
    ") WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,\n"
    "    autovacuum_vacuum_cost_delay = 0);\n"
    "CREATE INDEX IF NOT EXISTS claim_flight ON claim (flight);\n"
    "ALTER TABLE flight ADD COLUMN IF NOT EXISTS idempotency bytea;\n"
    "ALTER TABLE idempotency ADD COLUMN IF NOT EXISTS provisional boolean NOT NULL DEFAULT false;\n"
    "CREATE INDEX IF NOT EXISTS solution_key ON solution (key);\n"
    "CREATE INDEX IF NOT EXISTS solution_flight ON solution (flight);\n"
    "CREATE INDEX IF NOT EXISTS attempt_flight ON attempt (flight);\n"
    "CREATE INDEX IF NOT EXISTS idempotency_solution ON idempotency (solution)\n"
    "    WHERE solution <> 0;\n"
    "CREATE INDEX IF NOT EXISTS idempotency_provisional ON idempotency (flight)\n"
    "    WHERE provisional;\n";

static void add_owners(struct buf *sql)
{
    for (unsigned kind = 0; kind < RECORD_KIND_COUNT; kind++) {
        const struct row_table *const table = &row_tables[kind];
        buf_addf(sql, "ALTER TABLE %s ADD COLUMN IF NOT EXISTS owner bigint NOT NULL DEFAULT 0;\n",
                 table->name);
        if (!pg_cluster_is_per_node((enum record_kind)kind))
            continue;
        buf_addf(sql, "ALTER TABLE %s DROP CONSTRAINT %s_pkey, ADD PRIMARY KEY (", table->name,
                 table->name);
        for (size_t i = 0; i < table->key_count; i++)
            buf_addf(sql, "%s, ", table->columns[i].name);
        buf_addf(sql, "owner);\n");
    }
}

/* The columns of a solution, each behind the same words. */
static void add_solution(struct buf *sql, const char *before, bool has_types)
{
    const struct row_table *const table = &row_tables[RECORD_SOLUTION];
    for (size_t i = 0; i < table->count; i++)
        if (pg_schema_is_own(table, i))
            buf_addf(sql, ", %s%s%s%s", before, table->columns[i].name, has_types ? " " : "",
                     has_types ? pg_schema_type(table->columns[i].type) : "");
    buf_addf(sql, ", %sbody%s", before, has_types ? " json" : "");
}

static void add_ended(struct buf *sql)
{
    buf_addf(sql, "CREATE TABLE IF NOT EXISTS ended (\n"
                  "    claim bigint, is_kept boolean, name bytea NOT NULL, until bigint NOT NULL,\n"
                  "    refused_until bigint NOT NULL, end_class text NOT NULL,\n"
                  "    end_code text NOT NULL, end_attempts bigint NOT NULL");
    add_solution(sql, "", true);
    buf_addf(sql,
             ",\n    PRIMARY KEY (claim, is_kept)\n"
             ") WITH (autovacuum_vacuum_scale_factor = 0.01,\n"
             "    autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);\n"
             "ALTER TABLE ended ALTER text SET STORAGE EXTERNAL,\n"
             "    ALTER extra SET STORAGE EXTERNAL;\n"
             "CREATE INDEX IF NOT EXISTS ended_until ON ended (until);\n"
             "CREATE INDEX IF NOT EXISTS ended_name ON ended (name) WHERE refused_until > 0;\n");
}

/* ---- functions --------------------------------------------------------------------------- */

/* A batch that is sent again waits here for its first sending, if the server still works on it. */
static const char begin_batch[] =
    "CREATE OR REPLACE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS\n"
    "    $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;\n"
    "CREATE OR REPLACE FUNCTION begin_batch(me bigint, mine bigint, number bigint)\n"
    "RETURNS void LANGUAGE plpgsql AS $$\n"
    "BEGIN\n"
    "    PERFORM 1 FROM node WHERE id = me AND incarnation = mine FOR KEY SHARE;\n"
    "    IF NOT FOUND THEN\n"
    "        RAISE EXCEPTION 'the node was taken over' USING ERRCODE = '" PG_FENCED "';\n"
    "    END IF;\n"
    "    IF number > 0 THEN\n"
    "        UPDATE progress SET batch = number WHERE node = me AND batch < number;\n"
    "        IF NOT FOUND THEN\n"
    "            RAISE EXCEPTION 'the batch was applied' USING ERRCODE = '" PG_APPLIED "';\n"
    "        END IF;\n"
    "    END IF;\n"
    "END $$;\n";

/* Claims whose flight goes on are few; all others end together. Of a flight that is named twice the first end
 * counts. */
static const char release_kept[] =
    "FOR i IN 1 .. cardinality(flights) LOOP\n"
    "    CONTINUE WHEN kept[i] <> 1;\n"
    "    PERFORM 1 FROM claim WHERE name = names[i] AND flight = flights[i] AND owner = me\n"
    "        FOR UPDATE;\n"
    "    CONTINUE WHEN NOT FOUND;\n"
    "    freed := freed || flights[i];\n"
    "    DELETE FROM ended WHERE claim = flights[i] AND is_kept;\n"
    "    INSERT INTO ended ";
static const char release_others[] =
    "END LOOP;\n"
    "WITH gone AS (DELETE FROM claim AS old USING unnest(names, flights, kept)\n"
    "        AS it (name, flight, kept) WHERE old.name = it.name AND old.flight = it.flight\n"
    "        AND old.owner = me AND it.kept <> 1 RETURNING old.flight)\n"
    "    SELECT array_agg(flight) INTO over FROM gone;\n"
    "IF over IS NOT NULL THEN\n"
    "    DELETE FROM ended WHERE claim = ANY(over) AND NOT is_kept;\n"
    "    INSERT INTO ended ";

static void add_end(struct buf *sql)
{
    buf_addf(sql,
             "SELECT flights[i], kept[i] = 1, names[i], now_ms() + %d,\n"
             "        CASE WHEN keeps[i] > 0 THEN now_ms() + keeps[i] ELSE 0 END,\n"
             "        classes[i], codes[i], tries[i]",
             END_KEPT_MS);
    add_solution(sql, "s.", false);
}

static void add_release(struct buf *sql)
{
    buf_addf(sql,
             "CREATE OR REPLACE FUNCTION release_claims(me bigint, flights bigint[],\n"
             "    names bytea[], solutions bigint[], kept bigint[], tries bigint[],\n"
             "    classes text[], codes text[], keeps bigint[])\n"
             "RETURNS void LANGUAGE plpgsql AS $$\n"
             "#variable_conflict use_column\n"
             "DECLARE\n"
             "    freed bigint[] := '{}'; over bigint[];\n"
             "BEGIN\n%s",
             release_kept);
    add_end(sql);
    buf_addf(sql,
             "\n        FROM (SELECT 1) AS one LEFT JOIN solution AS s\n"
             "            ON s.id = solutions[i] AND solutions[i] <> 0;\n"
             "%s",
             release_others);
    add_end(sql);
    buf_addf(sql, "\n        FROM generate_subscripts(flights, 1) AS i LEFT JOIN solution AS s\n"
                  "            ON s.id = solutions[i] AND solutions[i] <> 0\n"
                  "        WHERE kept[i] <> 1 AND flights[i] = ANY(over) ORDER BY i\n"
                  "        ON CONFLICT DO NOTHING;\n"
                  "END IF;\n"
                  "DELETE FROM idempotency WHERE provisional AND flight = ANY(freed || over);\n"
                  "END $$;\n");
}

/* Two who ask with the same idempotency key take turns, whatever they ask for; all keys are locked before the first
 * name is, and both in their order, so that nobody waits for anybody who waits for him. */
static const char lock_keys[] =
    "FOR k IN SELECT n FROM generate_subscripts(digests, 1) AS n WHERE digests[n] IS NOT NULL\n"
    "        ORDER BY digests[n], n LOOP\n"
    "    LOOP\n"
    "        PERFORM 1 FROM idempotency WHERE digest = digests[k] FOR UPDATE;\n"
    "        EXIT WHEN FOUND;\n"
    "        INSERT INTO idempotency (digest, client, fingerprint, flight, solution, expires,\n"
    "            owner, provisional) VALUES (digests[k], clients[k], keys[k], flights[k], 0,\n"
    "            moment + lifetimes[k], me, true) ON CONFLICT DO NOTHING;\n"
    "        made[k] := FOUND;\n"
    "        EXIT WHEN FOUND;\n"
    "    END LOOP;\n"
    "END LOOP;\n";

/* Most claims find nothing, and nobody who has the key: one statement says so for all of them. Whether a key that
 * looked free is free is decided by its row. */
static const char look_at_all[] =
    "SELECT array_agg(results[i] IS NULL AND (reuses[i] <> 'shared' OR followed[i] <> 0\n"
    "        OR takes[i] = 1\n"
    "        OR (SELECT true FROM solution WHERE key = keys[i] AND expires > moment LIMIT 1)\n"
    "        IS NOT NULL\n"
    "        OR (SELECT true FROM ended WHERE name = keys[i] AND refused_until > 0\n"
    "            AND refused_until > moment AND end_class <> 'none' LIMIT 1) IS NOT NULL)\n"
    "        ORDER BY i)\n"
    "    INTO suspects FROM generate_subscripts(flights, 1) AS i;\n";

/* A solution that was reported as bad is no answer to whoever asks again. */
#define FRESH_UNTIL "CASE WHEN body->>'bad' IS NULL THEN expires ELSE 0 END"

/* What the idempotency key stands for, if it decides the claim. First whether somebody is at it, then whether there is
 * a solution: in the other order its end could slip through between the two. */
static const char decide_by_key[] =
    "            IF turn = 1 AND digests[i] IS NOT NULL THEN\n"
    "                SELECT * INTO bound FROM idempotency WHERE digest = digests[i];\n"
    "                IF bound.expires > moment AND bound.fingerprint <> keys[i] THEN\n"
    "                    result := 'mismatch';\n"
    "                ELSIF bound.expires > moment AND bound.flight <> flights[i] THEN\n"
    "                    holder := NULL; holder_node := NULL;\n"
    "                    IF bound.flight <> 0 THEN\n"
    "                        SELECT flight, owner INTO holder, holder_node FROM claim\n"
    "                            WHERE flight = bound.flight LIMIT 1;\n"
    "                        IF holder IS NULL AND reuses[i] = 'shared' THEN\n"
    "                            SELECT flight, owner INTO holder, holder_node FROM claim\n"
    "                                WHERE name = names[i];\n"
    "                        END IF;\n"
    "                    END IF;\n"
    "                    fresh_until := NULL;\n"
    "                    SELECT id, " FRESH_UNTIL " INTO found_id, fresh_until FROM solution\n"
    "                        WHERE id = bound.solution AND bound.solution <> 0;\n"
    "                    FOREACH source IN ARRAY ARRAY[bound.flight, bound.follows] LOOP\n"
    "                        CONTINUE WHEN found_id IS NOT NULL OR ended_claim IS NOT NULL\n"
    "                            OR source = 0;\n"
    "                        SELECT id, " FRESH_UNTIL " INTO found_id, fresh_until FROM solution\n"
    "                            WHERE flight = source LIMIT 1;\n"
    "                        IF found_id IS NULL THEN\n"
    "                            SELECT claim, is_kept, expires\n"
    "                                INTO ended_claim, ended_kept, fresh_until\n"
    "                                FROM ended WHERE claim = source AND until > moment\n"
    "                                AND id IS NOT NULL ORDER BY is_kept DESC LIMIT 1;\n"
    "                        END IF;\n"
    "                    END LOOP;\n"
    "                    IF fresh_until > moment THEN\n"
    "                        result := 'solved'; is_replayed := 1;\n"
    "                    ELSE\n"
    "                        is_renewed := CASE WHEN fresh_until IS NULL THEN 0 ELSE 1 END;\n"
    "                        found_id := NULL; ended_claim := NULL;\n"
    "                        IF holder IS NOT NULL THEN\n"
    "                            result := 'follow'; is_replayed := 1; is_renewed := 0;\n"
    "                        END IF;\n"
    "                    END IF;\n"
    "                END IF;\n"
    "                EXIT deciding WHEN result IS NOT NULL;\n"
    "            END IF;\n";

/* How the flight that was followed ended, and errors that are remembered for all. The index on names has only those
 * with refused_until > 0, and is used only where the condition says so in these words: otherwise every claim would read
 * all ends of the last minute. */
static const char decide_by_end[] =
    "            IF followed[i] <> 0 THEN\n"
    "                SELECT claim, is_kept, id, end_class, end_code, end_attempts\n"
    "                    INTO ended_claim, ended_kept, found_id, error_class, error_code, tries\n"
    "                    FROM ended WHERE claim = followed[i] AND until > moment\n"
    "                    AND (NOT is_kept OR expires > moment)\n"
    "                    AND (id IS NOT NULL OR end_class <> 'none')\n"
    "                    ORDER BY is_kept DESC LIMIT 1;\n"
    "                IF FOUND AND found_id IS NOT NULL THEN\n"
    "                    result := 'solved'; error_class := 'none';\n"
    "                    EXIT deciding;\n"
    "                ELSIF FOUND THEN\n"
    "                    result := 'refused'; ended_claim := NULL;\n"
    "                    EXIT deciding;\n"
    "                END IF;\n"
    "            END IF;\n"
    "            IF suspects[i] AND reuses[i] = 'shared' THEN\n"
    "                SELECT end_class, end_code, end_attempts INTO error_class, error_code, tries\n"
    "                    FROM ended WHERE name = keys[i] AND refused_until > 0\n"
    "                    AND refused_until > moment\n"
    "                    AND end_class <> 'none' LIMIT 1;\n"
    "                IF FOUND THEN\n"
    "                    result := 'refused';\n"
    "                    EXIT deciding;\n"
    "                END IF;\n"
    "            END IF;\n";

/* What may be taken. A row that names no flight is handed out by nobody but this function, whoever owns it. */
#define IS_OFFERED                                                                      \
    "flight = 0 AND expires > moment AND expires - moment >= min_ttls[i]\n"             \
    "                    AND moment - born <= max_ages[i] AND body->>'kept' = 'true'\n" \
    "                    AND body->>'shared' IS NULL AND body->>'handed' IS NULL\n"

/* First what the claim got before, if it is sent again, or what it proposes; then a solution that all may have; then
 * one that anybody offers. Nobody waits for a row that another one is about to take. */
static const char decide_by_solution[] =
    "            taken_id := NULL;\n"
    "            IF takes[i] = 1 THEN\n"
    "                SELECT id INTO found_id FROM solution WHERE flight = flights[i]\n"
    "                    AND owner = me LIMIT 1;\n"
    "                IF found_id IS NULL AND solutions[i] <> 0 THEN\n"
    "                    SELECT id, owner INTO taken_id, giver FROM solution\n"
    "                        WHERE id = solutions[i] AND owner = me AND " IS_OFFERED
    "                        FOR UPDATE SKIP LOCKED;\n"
    "                END IF;\n"
    "            END IF;\n"
    "            IF suspects[i] AND reuses[i] = 'shared' AND found_id IS NULL\n"
    "                    AND taken_id IS NULL THEN\n"
    "                SELECT id INTO found_id FROM solution WHERE key = keys[i]\n"
    "                    AND expires > moment\n"
    "                    AND expires - moment >= min_ttls[i] AND moment - born <= max_ages[i]\n"
    "                    AND body->>'kept' = 'true' AND body->>'shared' = 'true'\n"
    "                    ORDER BY expires DESC LIMIT 1;\n"
    "                IF FOUND THEN\n"
    "                    result := 'solved';\n"
    "                    EXIT deciding;\n"
    "                END IF;\n"
    "            END IF;\n"
    "            IF takes[i] = 1 AND found_id IS NULL AND taken_id IS NULL THEN\n"
    "                SELECT id, owner INTO taken_id, giver FROM solution AS s\n"
    "                    WHERE key = offers[i] AND " IS_OFFERED
    "                        AND NOT EXISTS (SELECT 1 FROM idempotency AS b\n"
    "                            WHERE b.solution = s.id AND b.solution <> 0)\n"
    "                    ORDER BY expires LIMIT 1 FOR UPDATE OF s SKIP LOCKED;\n"
    "            END IF;\n"
    "            IF taken_id IS NOT NULL THEN\n"
    "                UPDATE solution SET owner = me, flight = flights[i],\n"
    "                    body = (body::jsonb || '{\"handed\": 1}')::json WHERE id = taken_id;\n"
    "                found_id := taken_id;\n"
    "            END IF;\n"
    "            IF found_id IS NOT NULL THEN\n"
    "                result := 'taken'; holder_node := NULL;\n"
    "                holder := CASE WHEN taken_id IS NULL OR giver = me THEN 0 ELSE giver END;\n"
    "                EXIT deciding;\n"
    "            END IF;\n";

/* Claims first and looks for a solution afterwards: whoever comes at the moment of the end either waits here for it, or
 * finds the solution. Most who find one find it at the first look, and claim nothing. */
static const char claim_name[] =
    "            IF names[i] IS NULL THEN\n"
    "                result := 'won';\n"
    "                EXIT deciding;\n"
    "            END IF;\n"
    "            EXIT deciding WHEN turn = 2;\n"
    "            LOOP\n"
    "                IF NOT is_free[i] THEN\n"
    "                    SELECT flight, owner INTO holder, holder_node FROM claim\n"
    "                        WHERE name = names[i];\n"
    "                    EXIT WHEN FOUND;\n"
    "                END IF;\n"
    "                is_free[i] := false;\n"
    "                INSERT INTO claim VALUES (names[i], flights[i], me) ON CONFLICT DO NOTHING;\n"
    "                IF FOUND THEN\n"
    "                    holder := flights[i]; holder_node := me;\n"
    "                    EXIT;\n"
    "                END IF;\n"
    "            END LOOP;\n"
    "            IF holder <> flights[i] THEN\n"
    "                result := 'follow';\n"
    "            END IF;\n";

/* What becomes of a claim that is decided. Until the node has written what its idempotency key stands for, whoever
 * repeats it finds that by the row that the claim leaves. */
static const char finish[] =
    "    result := coalesce(results[i], 'won');\n"
    "    results[i] := result; solvings[i] := 0;\n"
    "    IF names[i] IS NOT NULL AND result IN ('solved', 'taken', 'refused') THEN\n"
    "        DELETE FROM claim WHERE name = names[i] AND flight = flights[i] AND owner = me;\n"
    "    END IF;\n"
    "    IF digests[i] IS NOT NULL AND result = 'refused' AND made[i] THEN\n"
    "        DELETE FROM idempotency WHERE digest = digests[i] AND provisional;\n"
    "    ELSIF digests[i] IS NOT NULL AND result NOT IN ('refused', 'mismatch')\n"
    "            AND replays[i] = 0 THEN\n"
    "        UPDATE idempotency SET client = clients[i], fingerprint = keys[i],\n"
    "            flight = flights[i], solution = 0, expires = moment + lifetimes[i], owner = me,\n"
    "            follows = 0, provisional = true WHERE digest = digests[i] AND flight <> "
    "flights[i];\n"
    "        IF result = 'solved' THEN\n"
    "            UPDATE idempotency SET follows = coalesce(ends[i], 0),\n"
    "                solution = CASE WHEN ends[i] IS NULL THEN founds[i] ELSE 0 END\n"
    "                WHERE digest = digests[i] AND flight = flights[i] AND provisional;\n"
    "        END IF;\n"
    "    END IF;\n"
    "    IF result = 'follow' THEN\n"
    "        SELECT count(*) INTO is_solving FROM (SELECT 1 FROM attempt\n"
    "            WHERE flight = holders[i] AND closed = 0 AND body->>'task' IS NOT NULL LIMIT 1)\n"
    "            AS open;\n"
    "        solvings[i] := is_solving;\n"
    "        UPDATE idempotency SET follows = holders[i] WHERE digest = digests[i]\n"
    "            AND flight = flights[i] AND follows <> holders[i];\n"
    "    END IF;\n"
    "    is_lost := 0;\n"
    "    IF solutions[i] <> 0 AND (result <> 'taken' OR founds[i] <> solutions[i]) THEN\n"
    "        SELECT 1 - count(*) INTO is_lost FROM solution WHERE id = solutions[i]\n"
    "            AND owner = me AND flight = 0;\n"
    "    END IF;\n"
    "    losts[i] := is_lost;\n";

static const char claim_variables[] =
    "DECLARE\n"
    "    moment bigint := now_ms();\n"
    "    made boolean[]; suspects boolean[]; is_free boolean[]; bound idempotency%ROWTYPE;\n"
    "    results text[]; holders bigint[]; nodes bigint[]; founds bigint[];\n"
    "    ends bigint[]; kepts boolean[]; classes text[]; codes text[]; counts bigint[];\n"
    "    replays bigint[]; renewals bigint[]; solvings bigint[];\n"
    "    result text; holder bigint; holder_node bigint; found_id bigint;\n"
    "    fresh_until bigint; ended_claim bigint; ended_kept boolean;\n"
    "    error_class text; error_code text; tries bigint;\n"
    "    is_replayed bigint; is_renewed bigint; is_solving bigint; source bigint;\n"
    "    losts bigint[]; is_lost bigint; taken_id bigint; giver bigint; k integer;\n";

static const char look_for_holders[] =
    "SELECT array_agg((SELECT true FROM claim WHERE name = names[i]) IS NULL ORDER BY i)\n"
    "    INTO is_free FROM generate_subscripts(flights, 1) AS i;\n";

static const char begin_claim[] =
    "        CONTINUE WHEN results[i] IS NOT NULL OR turn = 2 AND NOT suspects[i];\n"
    "        result := NULL; holder := coalesce(holders[i], 0);\n"
    "        holder_node := coalesce(nodes[i], 0); found_id := NULL;\n"
    "        ended_claim := NULL; error_class := 'none'; error_code := ''; tries := 0;\n"
    "        is_replayed := 0; is_renewed := coalesce(renewals[i], 0);\n";

static const char end_claim[] =
    "        results[i] := result; holders[i] := holder; nodes[i] := holder_node;\n"
    "        replays[i] := is_replayed; renewals[i] := is_renewed;\n"
    "        CONTINUE WHEN result IS NULL OR result = 'won' OR result = 'follow';\n"
    "        founds[i] := found_id; ends[i] := ended_claim; kepts[i] := ended_kept;\n"
    "        classes[i] := error_class; codes[i] := error_code; counts[i] := tries;\n";

static void add_claim_answers(struct buf *sql)
{
    buf_addf(sql,
             "RETURN QUERY SELECT places[i], results[i], coalesce(holders[i], 0),\n"
             "    CASE WHEN nodes[i] = me THEN 1::bigint ELSE 0 END, solvings[i], replays[i],\n"
             "    renewals[i], coalesce(counts[i], 0), coalesce(classes[i], 'none'),\n"
             "    coalesce(codes[i], ''), losts[i]");
    add_solution(sql, "s.", false);
    buf_addf(sql, "\n    FROM generate_subscripts(flights, 1) AS i LEFT JOIN LATERAL (\n"
                  "        SELECT 1");
    add_solution(sql, "", false);
    buf_addf(sql, " FROM solution\n"
                  "            WHERE id = founds[i] AND ends[i] IS NULL\n"
                  "        UNION ALL SELECT 1");
    add_solution(sql, "", false);
    buf_addf(sql, " FROM ended\n"
                  "            WHERE claim = ends[i] AND is_kept = kepts[i]\n"
                  "        LIMIT 1) AS s ON results[i] IN ('solved', 'taken');\n"
                  "END $$;\n");
}

static void add_claim(struct buf *sql)
{
    buf_addf(sql, "CREATE OR REPLACE FUNCTION claim_keys(me bigint, places bigint[],\n"
                  "    flights bigint[], followed bigint[], reuses text[], keys bytea[],\n"
                  "    names bytea[], digests bytea[], clients text[], min_ttls bigint[],\n"
                  "    max_ages bigint[], lifetimes bigint[], takes bigint[],\n"
                  "    solutions bigint[], offers bytea[])\n"
                  "RETURNS TABLE (r_place bigint, r_result text, r_followed bigint,\n"
                  "    r_own bigint, r_solving bigint, r_replayed bigint, r_renewed bigint,\n"
                  "    r_attempts bigint, r_class text, r_code text, r_lost bigint");
    add_solution(sql, "r_", true);
    buf_addf(sql,
             ")\nLANGUAGE plpgsql AS $$\n"
             "#variable_conflict use_column\n"
             "%sBEGIN\n%s%s"
             "FOR turn IN 1 .. 2 LOOP\n%s"
             "    FOR i IN 1 .. cardinality(flights) LOOP\n%s"
             "        <<deciding>>\n"
             "        BEGIN\n%s%s%s%s"
             "        END deciding;\n%s"
             "    END LOOP;\n"
             "END LOOP;\n"
             "FOR i IN 1 .. cardinality(flights) LOOP\n%s"
             "END LOOP;\n",
             claim_variables, lock_keys, look_for_holders, look_at_all, begin_claim, decide_by_key,
             decide_by_end, decide_by_solution, claim_name, end_claim, finish);
    add_claim_answers(sql);
}

/* Adopted claims and flights stay where they are in pages with room for them, and how often a flight was adopted is no
 * longer in its body. */
void pg_cluster_add_room_sql(struct buf *sql)
{
    buf_addf(sql,
             "ALTER TABLE flight ADD COLUMN IF NOT EXISTS adoptions bigint NOT NULL DEFAULT 0;\n"
             "UPDATE flight SET adoptions = least(255, (body->>'adoptions')::bigint)\n"
             "    WHERE CASE WHEN json_typeof(body) <> 'object' THEN false\n"
             "    WHEN position('\\u0000' in body::text) > 0 THEN false\n"
             "    ELSE body->>'adoptions' ~ '^[0-9]{1,9}$' END;\n"
             "ALTER TABLE flight SET (fillfactor = 45);\n"
             "ALTER TABLE claim SET (fillfactor = 45);\n");
    add_release(sql);
}

void pg_cluster_add_sql(struct buf *sql)
{
    add_owners(sql);
    buf_addf(sql, "%s", tables);
    add_ended(sql);
    buf_addf(sql, "%s", begin_batch);
    add_release(sql);
}

void pg_cluster_add_offers_sql(struct buf *sql)
{
    buf_addf(sql, "ALTER TABLE solution DROP COLUMN IF EXISTS taken;\n");
}

void pg_cluster_add_bad_sql(struct buf *sql)
{
    buf_addf(sql, "DROP FUNCTION IF EXISTS claim_keys;\n");
    add_claim(sql);
}
