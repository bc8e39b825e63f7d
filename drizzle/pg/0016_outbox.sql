CREATE TABLE "events" (
	"id" text PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"account_id" text NOT NULL,
	"subject" text NOT NULL,
	"place" bigint NOT NULL,
	"at" bigint NOT NULL,
	"data" text NOT NULL,
	"routed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"webhook_id" text NOT NULL,
	"event_id" text NOT NULL,
	"type" text NOT NULL,
	"subject" text NOT NULL,
	"place" bigint NOT NULL,
	"status" text NOT NULL,
	"attempts" integer NOT NULL,
	"since" bigint NOT NULL,
	"next_at" bigint,
	"tried_at" bigint,
	"http_status" integer,
	"duration_ms" bigint,
	"error" text,
	"done_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text NOT NULL,
	"description" text NOT NULL,
	"format" text NOT NULL,
	"secret" "bytea",
	"old_secret" "bytea",
	"old_until" bigint,
	"created_at" bigint NOT NULL,
	"disabled_at" bigint,
	"disabled_reason" text,
	"failing_since" bigint,
	"dropped" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "low_balance" bigint;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "exhausted_at" bigint;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "tells_runs" boolean;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "event_place" bigint;--> statement-breakpoint
ALTER TABLE "key_windows" ADD COLUMN "told" integer;--> statement-breakpoint
CREATE INDEX "events_by_routing" ON "events" USING btree ("routed_at","place");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_webhook" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_event" ON "webhook_deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("next_at") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_in_order" ON "webhook_deliveries" USING btree ("webhook_id","subject","place") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_done" ON "webhook_deliveries" USING btree ("done_at") WHERE "webhook_deliveries"."done_at" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_by_account" ON "webhooks" USING btree ("account_id","id");--> statement-breakpoint
CREATE INDEX "keys_by_end" ON "keys" USING btree ("expires_at") WHERE "keys"."revoked_at" is null;