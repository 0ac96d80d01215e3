import { Command } from "commander";
export function cpCommand(): Command {
  return new Command("cp");
}
