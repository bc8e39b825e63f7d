CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"account_id" text NOT NULL,
	"created_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"user_agent" text NOT NULL,
	"client_address" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_nonces" (
	"nonce" text PRIMARY KEY NOT NULL,
	"browser_hash" text NOT NULL,
	"account_id" text,
	"message" text,
	"issued_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"account_id" text NOT NULL,
	"day" bigint NOT NULL,
	"key_id" text NOT NULL,
	"model" text NOT NULL,
	"runs" integer NOT NULL,
	"succeeded" integer NOT NULL,
	"input_units" bigint NOT NULL,
	"output_units" bigint NOT NULL,
	"cost" bigint NOT NULL,
	CONSTRAINT "usage_days_account_id_day_key_id_model_pk" PRIMARY KEY("account_id","day","key_id","model")
);
--> statement-breakpoint
ALTER TABLE "account_settings" ADD COLUMN "console_key_id" text;--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_by_token" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_by_account" ON "sessions" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "sessions_by_end" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sign_in_nonces_by_end" ON "sign_in_nonces" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "key_secrets_by_key" ON "key_secrets" USING btree ("key_id");