CREATE TABLE "unnumbered_batches" (
	"ended_at" bigint NOT NULL,
	"id" text NOT NULL,
	"runs" text NOT NULL,
	CONSTRAINT "unnumbered_batches_ended_at_id_pk" PRIMARY KEY("ended_at","id")
);
--> statement-breakpoint
INSERT INTO "unnumbered_batches" ("ended_at", "id", "runs") SELECT "finished_at", "id", '["' || "id" || '"]' FROM "unnumbered_runs";--> statement-breakpoint
DROP TABLE "unnumbered_runs";--> statement-breakpoint
ALTER TABLE "unnumbered_batches" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);