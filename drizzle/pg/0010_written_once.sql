CREATE TABLE "open_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"key_id" text NOT NULL,
	"node" text NOT NULL,
	"status" text NOT NULL,
	"kind" text NOT NULL,
	"model" text NOT NULL,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"hold" bigint NOT NULL,
	"windows" text NOT NULL,
	"price_list" text NOT NULL,
	"discount_bps" integer NOT NULL,
	"tags" text NOT NULL,
	"metadata" text NOT NULL,
	"seed" "bytea" NOT NULL,
	"input_commitment" "bytea" NOT NULL,
	"passport" text NOT NULL,
	"background" boolean NOT NULL
);
--> statement-breakpoint
CREATE TABLE "receipt_signatures" (
	"place" bigint PRIMARY KEY NOT NULL,
	"signature" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "unnumbered_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"finished_at" bigint NOT NULL,
	"digest" "bytea" NOT NULL
);
--> statement-breakpoint
INSERT INTO "open_runs" ("id", "account_id", "key_id", "node", "status", "kind", "model", "created_at", "started_at", "hold", "windows", "price_list", "discount_bps", "tags", "metadata", "seed", "input_commitment", "passport", "background") SELECT "id", "account_id", "key_id", "node", "status", "kind", "model", "created_at", "started_at", "hold", "windows", "price_list", "discount_bps", "tags", "metadata", "seed", "input_commitment", "passport", "background" FROM "runs" WHERE "finished_at" IS NULL;--> statement-breakpoint
DELETE FROM "runs" WHERE "finished_at" IS NULL;--> statement-breakpoint
INSERT INTO "unnumbered_runs" ("id", "finished_at", "digest") SELECT "id", "finished_at", "digest" FROM "runs" WHERE "log_index" IS NULL AND "finished_at" IS NOT NULL;--> statement-breakpoint
DROP INDEX "runs_open";--> statement-breakpoint
DROP INDEX "runs_unnumbered";--> statement-breakpoint
ALTER TABLE "log_leaves" ADD COLUMN "run_id" text;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "place" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "seq" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "moved_at" bigint;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "balance" bigint;--> statement-breakpoint
CREATE INDEX "log_leaves_by_run" ON "log_leaves" USING btree ("run_id") WHERE "log_leaves"."run_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_charged" ON "runs" USING btree ("account_id","moved_at","seq") WHERE "runs"."seq" is not null;--> statement-breakpoint
CREATE VIEW "journal" AS SELECT account_id, ref, kind, source, target, amount, at, seq, balance FROM transfers UNION ALL SELECT account_id, id, CAST('run' AS text), CAST('user' AS text), CAST('revenue' AS text), cost, moved_at, seq, balance FROM runs WHERE seq IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER runs_charge_never_changes BEFORE UPDATE OF "id", "account_id", "cost", "finished_at", "seq", "moved_at", "balance" ON "runs" FOR EACH ROW EXECUTE FUNCTION never_again();--> statement-breakpoint
CREATE TRIGGER runs_never_vanish BEFORE DELETE ON "runs" FOR EACH ROW EXECUTE FUNCTION never_again();--> statement-breakpoint
ALTER TABLE "open_runs" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);--> statement-breakpoint
ALTER TABLE "unnumbered_runs" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
