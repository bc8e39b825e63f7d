CREATE TABLE `upstream_evidence` (
	`run_id` text PRIMARY KEY NOT NULL,
	`upstream` text NOT NULL,
	`model` text NOT NULL,
	`scheme` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`request_hash` blob,
	`answer_hash` blob,
	`answer_id` text,
	`tries` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`due_at` integer,
	`document` text,
	`key` text,
	`checked_at` integer,
	`salt` blob,
	`digest` blob,
	`log_place` integer
) STRICT;
--> statement-breakpoint
CREATE INDEX `upstream_evidence_due` ON `upstream_evidence` (`due_at`) WHERE "upstream_evidence"."due_at" is not null;--> statement-breakpoint
CREATE INDEX `upstream_evidence_by_place` ON `upstream_evidence` (`log_place`) WHERE "upstream_evidence"."log_place" is not null;