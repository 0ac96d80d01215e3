import { type ColumnDataType, type ColumnDefinitionBuilder, type ColumnDefinitionBuilderCallback, type RawBuilder, sql } from "kysely";

export type DialectName = "sqlite" | "postgres";

/** Sorted and compared byte by byte, as SQLite does it, whatever language the PostgreSQL server speaks. */
export function text(dialect: DialectName): ColumnDataType | RawBuilder<unknown> {
  return dialect === "sqlite" ? "text" : sql`text collate "C"`;
}

/** A number that grows with each row and is never given twice, also after the newest row was deleted. */
export function ordinal(dialect: DialectName): [ColumnDataType, ColumnDefinitionBuilderCallback] {
  if (dialect === "sqlite") return ["integer", (column: ColumnDefinitionBuilder) => column.primaryKey().autoIncrement()];
  return ["bigserial", (column: ColumnDefinitionBuilder) => column.primaryKey()];
}
