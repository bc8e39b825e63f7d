CREATE TRIGGER `transfers_never_change` BEFORE UPDATE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `transfers_never_vanish` BEFORE DELETE ON `transfers` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `keys_stay_revoked` BEFORE UPDATE ON `keys` WHEN OLD.`revoked_at` IS NOT NULL AND NEW.`revoked_at` IS NOT OLD.`revoked_at` BEGIN SELECT RAISE(ABORT, 'a revocation is final'); END;
--> statement-breakpoint
CREATE TRIGGER `keys_stay_in_place` BEFORE UPDATE ON `keys` WHEN NEW.`account_id` IS NOT OLD.`account_id` OR NEW.`parent_id` IS NOT OLD.`parent_id` OR NEW.`lineage` IS NOT OLD.`lineage` BEGIN SELECT RAISE(ABORT, 'a key keeps its account and its parent'); END;
--> statement-breakpoint
CREATE TRIGGER `log_leaves_never_change` BEFORE UPDATE ON `log_leaves` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `log_leaves_never_vanish` BEFORE DELETE ON `log_leaves` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_change` BEFORE UPDATE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `log_checkpoints_never_vanish` BEFORE DELETE ON `log_checkpoints` BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
--> statement-breakpoint
CREATE VIEW `journal` AS SELECT account_id, ref, kind, source, target, amount, at, seq, balance FROM transfers UNION ALL SELECT account_id, id, CAST('run' AS text), CAST('user' AS text), CAST('revenue' AS text), cost, moved_at, seq, balance FROM runs WHERE seq IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `runs_charge_never_changes` BEFORE UPDATE OF `id`, `account_id`, `cost`, `finished_at`, `seq`, `moved_at`, `balance` ON `runs` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `runs_never_vanish` BEFORE DELETE ON `runs` BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
