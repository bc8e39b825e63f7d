ALTER TABLE "usage_days" ADD COLUMN "cached_units" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "cache_write_units" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "reasoning_units" bigint DEFAULT 0 NOT NULL;