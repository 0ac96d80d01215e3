import { useState } from "preact/hooks";
import { sentence } from "./api/sentence.ts";
import { signIn } from "./state/access.ts";

export function SignIn() {
  const [token, setToken] = useState("");
  const [fault, setFault] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    signIn({ token: token.trim() }).catch((error: Error) => setFault(sentence(error)));
  };
  return (
    <div class="sheet stack sign-in">
      <h1>Who is there?</h1>
      <p>On the machine where Torpor runs, this prints a link that signs this browser in, once:</p>
      <pre class="command">torpor open</pre>
      <form class="stack" onSubmit={submit}>
        <label>
          Or a token
          <input
            type="password"
            autocomplete="off"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
            aria-describedby="token-fault"
          />
        </label>
        <p id="token-fault" class="fault" role="alert">
          {fault}
        </p>
        <div class="row">
          <button type="submit" class="fill">
            Sign in
          </button>
        </div>
      </form>
    </div>
  );
}
