CREATE TABLE public.ancestors (
    id text NOT NULL COLLATE pg_catalog."C",
    parent_id text COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.credentials (
    ordinal bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    token_id text COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    expires_at text COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.credentials_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.credentials_ordinal_seq OWNED BY public.credentials.ordinal;
CREATE TABLE public.deliveries (
    ordinal bigint NOT NULL,
    webhook_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    next_at text NOT NULL COLLATE pg_catalog."C",
    ended_at text COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.deliveries_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.deliveries_ordinal_seq OWNED BY public.deliveries.ordinal;
CREATE TABLE public.event_horizons (
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);
CREATE TABLE public.events (
    seq bigint NOT NULL,
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    operation_id text COLLATE pg_catalog."C",
    type text NOT NULL COLLATE pg_catalog."C",
    data text NOT NULL COLLATE pg_catalog."C",
    at text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.events_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.events_seq_seq OWNED BY public.events.seq;
CREATE TABLE public.idempotency_keys (
    ordinal bigint NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    operation_id text NOT NULL COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text NOT NULL COLLATE pg_catalog."C",
    answer text COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.idempotency_keys_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.idempotency_keys_ordinal_seq OWNED BY public.idempotency_keys.ordinal;
CREATE TABLE public.operations (
    ordinal bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C",
    ended_at text COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.operations_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.operations_ordinal_seq OWNED BY public.operations.ordinal;
CREATE TABLE public.sandboxes (
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    address text COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C",
    parent_id text COLLATE pg_catalog."C",
    held_memory bigint DEFAULT 0 NOT NULL,
    held_cpus double precision DEFAULT 0 NOT NULL,
    held_disk bigint DEFAULT 0 NOT NULL,
    team text DEFAULT 'default'::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    applied_at text NOT NULL
);
CREATE TABLE public.settings (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.snapshots (
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at text NOT NULL COLLATE pg_catalog."C",
    expires_at text COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.supervised_sessions (
    ordinal bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.supervised_sessions_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.supervised_sessions_ordinal_seq OWNED BY public.supervised_sessions.ordinal;
CREATE TABLE public.teams (
    name text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.usage (
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.wake_deliveries (
    ordinal bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C",
    call text COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.wake_deliveries_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.wake_deliveries_ordinal_seq OWNED BY public.wake_deliveries.ordinal;
CREATE TABLE public.wakes (
    ordinal bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    sandbox_id text NOT NULL COLLATE pg_catalog."C",
    token_hash text COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.wakes_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.wakes_ordinal_seq OWNED BY public.wakes.ordinal;
CREATE TABLE public.webhooks (
    ordinal bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    secret text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE public.webhooks_ordinal_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.webhooks_ordinal_seq OWNED BY public.webhooks.ordinal;
ALTER TABLE ONLY public.credentials ALTER COLUMN ordinal SET DEFAULT nextval('public.credentials_ordinal_seq'::regclass);
ALTER TABLE ONLY public.deliveries ALTER COLUMN ordinal SET DEFAULT nextval('public.deliveries_ordinal_seq'::regclass);
ALTER TABLE ONLY public.events ALTER COLUMN seq SET DEFAULT nextval('public.events_seq_seq'::regclass);
ALTER TABLE ONLY public.idempotency_keys ALTER COLUMN ordinal SET DEFAULT nextval('public.idempotency_keys_ordinal_seq'::regclass);
ALTER TABLE ONLY public.operations ALTER COLUMN ordinal SET DEFAULT nextval('public.operations_ordinal_seq'::regclass);
ALTER TABLE ONLY public.supervised_sessions ALTER COLUMN ordinal SET DEFAULT nextval('public.supervised_sessions_ordinal_seq'::regclass);
ALTER TABLE ONLY public.wake_deliveries ALTER COLUMN ordinal SET DEFAULT nextval('public.wake_deliveries_ordinal_seq'::regclass);
ALTER TABLE ONLY public.wakes ALTER COLUMN ordinal SET DEFAULT nextval('public.wakes_ordinal_seq'::regclass);
ALTER TABLE ONLY public.webhooks ALTER COLUMN ordinal SET DEFAULT nextval('public.webhooks_ordinal_seq'::regclass);
ALTER TABLE ONLY public.ancestors
    ADD CONSTRAINT ancestors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_id_key UNIQUE (id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.event_horizons
    ADD CONSTRAINT event_horizons_pkey PRIMARY KEY (sandbox_id);
ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.sandboxes
    ADD CONSTRAINT sandboxes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.supervised_sessions
    ADD CONSTRAINT supervised_sessions_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (sandbox_id);
ALTER TABLE ONLY public.wake_deliveries
    ADD CONSTRAINT wake_deliveries_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.wakes
    ADD CONSTRAINT wakes_pkey PRIMARY KEY (ordinal);
ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (ordinal);
CREATE INDEX ancestors_parent ON public.ancestors USING btree (parent_id);
CREATE UNIQUE INDEX credentials_hash ON public.credentials USING btree (hash);
CREATE UNIQUE INDEX credentials_name ON public.credentials USING btree (name) WHERE (kind = 'token'::text);
CREATE INDEX credentials_token ON public.credentials USING btree (token_id, ordinal);
CREATE INDEX deliveries_end ON public.deliveries USING btree (ended_at);
CREATE UNIQUE INDEX deliveries_event ON public.deliveries USING btree (webhook_id, seq);
CREATE INDEX deliveries_pending ON public.deliveries USING btree (webhook_id, sandbox_id, seq) WHERE (status = 'pending'::text);
CREATE INDEX events_at ON public.events USING btree (at);
CREATE INDEX events_sandbox ON public.events USING btree (sandbox_id, seq);
CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (expires_at);
CREATE UNIQUE INDEX idempotency_keys_key ON public.idempotency_keys USING btree (scope, key);
CREATE INDEX operations_end ON public.operations USING btree (ended_at);
CREATE UNIQUE INDEX operations_id ON public.operations USING btree (id);
CREATE UNIQUE INDEX operations_one_running ON public.operations USING btree (sandbox_id) WHERE (status = 'running'::text);
CREATE INDEX operations_sandbox ON public.operations USING btree (sandbox_id, ordinal);
CREATE UNIQUE INDEX sandboxes_address ON public.sandboxes USING btree (address);
CREATE UNIQUE INDEX sandboxes_name ON public.sandboxes USING btree (name);
CREATE INDEX sandboxes_parent ON public.sandboxes USING btree (parent_id);
CREATE INDEX sandboxes_team ON public.sandboxes USING btree (team);
CREATE INDEX snapshots_expiry ON public.snapshots USING btree (expires_at);
CREATE UNIQUE INDEX snapshots_name ON public.snapshots USING btree (name);
CREATE UNIQUE INDEX supervised_sessions_id ON public.supervised_sessions USING btree (sandbox_id, id);
CREATE UNIQUE INDEX wake_deliveries_id ON public.wake_deliveries USING btree (id);
CREATE INDEX wake_deliveries_sandbox ON public.wake_deliveries USING btree (sandbox_id, ordinal);
CREATE UNIQUE INDEX wakes_id ON public.wakes USING btree (id);
CREATE INDEX wakes_sandbox ON public.wakes USING btree (sandbox_id, ordinal);
CREATE UNIQUE INDEX wakes_token ON public.wakes USING btree (token_hash);
CREATE UNIQUE INDEX webhooks_id ON public.webhooks USING btree (id);
ALTER TABLE ONLY public.credentials
    ADD CONSTRAINT credentials_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.credentials(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.supervised_sessions
    ADD CONSTRAINT supervised_sessions_sandbox_id_fkey FOREIGN KEY (sandbox_id) REFERENCES public.sandboxes(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.wake_deliveries
    ADD CONSTRAINT wake_deliveries_sandbox_id_fkey FOREIGN KEY (sandbox_id) REFERENCES public.sandboxes(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.wakes
    ADD CONSTRAINT wakes_sandbox_id_fkey FOREIGN KEY (sandbox_id) REFERENCES public.sandboxes(id) ON DELETE CASCADE;
