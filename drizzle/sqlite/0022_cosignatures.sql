CREATE TABLE `cosignatures` (
	`issuer` text NOT NULL,
	`witness` text NOT NULL,
	`size` integer NOT NULL,
	`time` integer NOT NULL,
	`signature` blob NOT NULL,
	PRIMARY KEY(`issuer`, `witness`, `size`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `cosignatures_by_size` ON `cosignatures` (`issuer`,`size`);