import type { CreatedToken, CreateTokenRequest, Identity, LoginCode, Token } from "@torpor/contract";
import type { Transport } from "./transport.ts";

/** Who may call a daemon, and as whom this client does. */
export class AccessClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Of the daemon, if it is not at a socket. */
  get url(): string | undefined {
    return this.#transport.endpoint.url?.origin;
  }

  /** The answer alone has the token. */
  createToken(body: CreateTokenRequest = {}): Promise<CreatedToken> {
    return this.#transport.json("createToken", { body });
  }

  async tokens(): Promise<Token[]> {
    return (await this.#transport.json<{ tokens: Token[] }>("listTokens")).tokens;
  }

  /** By id or name; every browser that it signed in is signed out. */
  revokeToken(tid: string): Promise<void> {
    return this.#transport.json("revokeToken", { params: { tid } });
  }

  /** Signs one browser in as whoever this client is. */
  loginCode(): Promise<LoginCode> {
    return this.#transport.json("createLoginCode");
  }

  whoami(): Promise<Identity> {
    return this.#transport.json("whoami");
  }
}
