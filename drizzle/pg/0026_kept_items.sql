CREATE TABLE "kept_items" (
	"account_id" text NOT NULL,
	"id" text NOT NULL,
	"run_id" text NOT NULL,
	"keys" text NOT NULL,
	"sealed" "bytea" NOT NULL,
	"bytes" integer NOT NULL,
	"until" bigint NOT NULL,
	CONSTRAINT "kept_items_account_id_id_run_id_pk" PRIMARY KEY("account_id","id","run_id")
);
--> statement-breakpoint
ALTER TABLE "account_settings" ADD COLUMN "keeps_responses" boolean;--> statement-breakpoint
CREATE INDEX "kept_items_by_run" ON "kept_items" USING btree ("run_id");--> statement-breakpoint
CREATE INDEX "kept_items_by_end" ON "kept_items" USING btree ("until");--> statement-breakpoint
CREATE INDEX "kept_items_by_account" ON "kept_items" USING btree ("account_id","until","run_id","bytes");--> statement-breakpoint
UPDATE "account_settings" SET "keeps_responses" = false WHERE "retention" = 'none' AND EXISTS (SELECT 1 FROM "audit_entries" WHERE "audit_entries"."account_id" = "account_settings"."account_id" AND "audit_entries"."action" = 'retention.set');
