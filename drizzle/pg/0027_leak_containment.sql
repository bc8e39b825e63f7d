ALTER TABLE "key_secrets" ADD COLUMN "self_rotated" boolean;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "secret_by" text;--> statement-breakpoint
ALTER TABLE "keys" ADD COLUMN "leak_answered_at" bigint;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "made_by" text;