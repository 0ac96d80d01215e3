import { Argument, Command } from "commander";
import { completionScript, type Shell, shells } from "../completion-scripts.ts";
import { examples } from "../examples.ts";
import { print } from "../leave.ts";

export function completionCommand(): Command {
  const command = new Command("completion")
    .description("print the completion of a shell: of commands, options, and names of sandboxes, snapshots and images as they are now")
    .addArgument(new Argument("<shell>", "which").choices(shells))
    .action(async (shell: Shell) => print(completionScript(shell)));
  return examples(command, [
    'eval "$(torpor completion bash)"',
    "torpor completion zsh >~/.zfunc/_torpor   # a folder of $fpath",
    "torpor completion fish >~/.config/fish/completions/torpor.fish",
  ]);
}
