CREATE TABLE "explorer_counts" (
	"grain" text NOT NULL,
	"at" bigint NOT NULL,
	"receipts" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	CONSTRAINT "explorer_counts_grain_at_pk" PRIMARY KEY("grain","at")
);
--> statement-breakpoint
CREATE TABLE "explorer_models" (
	"grain" text NOT NULL,
	"at" bigint NOT NULL,
	"model" text NOT NULL,
	"runs" bigint NOT NULL,
	"cost" bigint NOT NULL,
	"first_tokens" text NOT NULL,
	CONSTRAINT "explorer_models_grain_at_model_pk" PRIMARY KEY("grain","at","model")
);
--> statement-breakpoint
CREATE TABLE "idempotent_calls" (
	"scope" text PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"node" text NOT NULL,
	"run_id" text,
	"reply" "bytea",
	"created_at" bigint NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passport_models" (
	"handle" text NOT NULL,
	"model" text NOT NULL,
	"runs" bigint NOT NULL,
	CONSTRAINT "passport_models_handle_model_pk" PRIMARY KEY("handle","model")
);
--> statement-breakpoint
CREATE TABLE "passport_statements" (
	"handle" text NOT NULL,
	"issuer" text NOT NULL,
	"as_of_size" bigint NOT NULL,
	"record" text NOT NULL,
	"digest" "bytea" NOT NULL,
	"signature" "bytea",
	"created_at" bigint NOT NULL,
	"log_place" bigint,
	CONSTRAINT "passport_statements_handle_issuer_as_of_size_pk" PRIMARY KEY("handle","issuer","as_of_size")
);
--> statement-breakpoint
CREATE TABLE "passports" (
	"handle" text PRIMARY KEY NOT NULL,
	"id" text NOT NULL,
	"account_id" text NOT NULL,
	"display_name" text NOT NULL,
	"kind" text NOT NULL,
	"bio" text NOT NULL,
	"links" text NOT NULL,
	"status" text NOT NULL,
	"owner_shown" boolean NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"published_at" bigint,
	"retired_at" bigint,
	"runs" bigint NOT NULL,
	"succeeded" bigint NOT NULL,
	"spent" bigint NOT NULL,
	"active_days" integer NOT NULL,
	"first_at" bigint,
	"last_at" bigint,
	"public_receipts" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "terminal_allowances" (
	"day" bigint NOT NULL,
	"client" text NOT NULL,
	"used" integer NOT NULL,
	CONSTRAINT "terminal_allowances_day_client_pk" PRIMARY KEY("day","client")
);
--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "passport" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "shares" ADD COLUMN "digest" "bytea";--> statement-breakpoint
CREATE INDEX "idempotent_calls_by_end" ON "idempotent_calls" USING btree ("until");--> statement-breakpoint
CREATE INDEX "idempotent_calls_by_run" ON "idempotent_calls" USING btree ("run_id") WHERE "idempotent_calls"."run_id" is not null;--> statement-breakpoint
CREATE INDEX "passport_statements_unlogged" ON "passport_statements" USING btree ("created_at") WHERE "passport_statements"."log_place" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "passports_by_id" ON "passports" USING btree ("id");--> statement-breakpoint
CREATE INDEX "passports_by_account" ON "passports" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "passports_by_kind" ON "passports" USING btree ("kind","published_at","handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX "passports_newest" ON "passports" USING btree ("published_at","handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX "passports_busiest" ON "passports" USING btree ("runs","handle") WHERE "passports"."status" = 'public';--> statement-breakpoint
CREATE INDEX "shares_by_digest" ON "shares" USING btree ("digest");