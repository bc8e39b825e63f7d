CREATE TABLE `log_checkpoints` (
	`size` integer PRIMARY KEY NOT NULL,
	`issuer` text NOT NULL,
	`root` blob NOT NULL,
	`timestamp` integer NOT NULL,
	`signature` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `log_leaves` (
	`idx` integer PRIMARY KEY NOT NULL,
	`kind` integer NOT NULL,
	`hashes` blob NOT NULL
) STRICT;--> statement-breakpoint
CREATE TRIGGER `log_leaves_never_change` BEFORE UPDATE ON `log_leaves` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `log_leaves_never_vanish` BEFORE DELETE ON `log_leaves` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_change` BEFORE UPDATE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_vanish` BEFORE DELETE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;--> statement-breakpoint
-- What was numbered before there was a tree is numbered anew, with its leaf.
UPDATE `runs` SET `log_index` = NULL;--> statement-breakpoint
DELETE FROM `facts` WHERE `name` = 'log.size';
