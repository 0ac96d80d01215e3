import { Outside } from "./outside.ts";
import { pushPython } from "./python-image.ts";
import { Registry } from "./registry.ts";
import { TestDaemon } from "./test-daemon.ts";
import { testWheels } from "./wheels.ts";

/** What the guide's commands and programs meet: a daemon without an image, a registry that has `python:3.12`, and an index of packages. */
export class GuideWorld implements AsyncDisposable {
  readonly daemon: TestDaemon;
  readonly outside: Outside;
  /** The directory of the packages. */
  readonly wheels: string;
  readonly #held: AsyncDisposableStack;

  private constructor(held: AsyncDisposableStack, daemon: TestDaemon, outside: Outside, wheels: string) {
    this.#held = held;
    this.daemon = daemon;
    this.outside = outside;
    this.wheels = wheels;
  }

  static async open(): Promise<GuideWorld> {
    await using held = new AsyncDisposableStack();
    const wheels = await testWheels();
    const registry = held.use(await Registry.open());
    await pushPython(registry);
    const outside = held.use(await Outside.open(wheels));
    const args = ["--registry-mirror", registry.host, "--dns", outside.resolver];
    const daemon = held.use(await TestDaemon.start({ image: false, args }));
    return new GuideWorld(held.move(), daemon, outside, wheels);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#held.disposeAsync();
  }
}
