ALTER TABLE "keys" ADD COLUMN "brake_minute" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "brake_hour" bigint;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "brake_running" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "paused_reason" text;