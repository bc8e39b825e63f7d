CREATE TABLE `unnumbered_batches` (
	`ended_at` integer NOT NULL,
	`id` text NOT NULL,
	`runs` text NOT NULL,
	PRIMARY KEY(`ended_at`, `id`)
) STRICT;
--> statement-breakpoint
INSERT INTO `unnumbered_batches` (`ended_at`, `id`, `runs`) SELECT `finished_at`, `id`, '["' || `id` || '"]' FROM `unnumbered_runs`;--> statement-breakpoint
DROP TABLE `unnumbered_runs`;