// ethos-decide hook install opencode writes this; by hand, copy it to .opencode/plugin/ethos.js. Every tool call is decided by ethos before it runs.
import { execFile } from "node:child_process"

const hook = "ETHOS"

// answer is what ethos says to an event; whatever goes wrong, it is a refusal.
const answer = (event) =>
  new Promise((resolve) => {
    const child = execFile("sh", ["-c", hook], { timeout: 60000 }, (error, stdout, stderr) => {
      let reply
      try {
        reply = JSON.parse(stdout)
      } catch {}
      if (reply?.decision === "allow" && !error) return resolve(reply)
      resolve({ decision: "deny", reason: reply?.reason ?? `ethos gave no answer: the call is blocked. ${stderr}` })
    })
    child.stdin.on("error", () => {}) // it ended before it read all: the callback above says how
    child.stdin.end(JSON.stringify(event))
  })

export const Ethos = async ({ directory }) => ({
  // opencode.json denies every tool, so that nothing runs when this file is not loaded. Here it is; other rules stay.
  config: async (config) => {
    delete config.permission["*"]
  },
  "tool.execute.before": async (input, output) => {
    const reply = await answer({
      hook_event_name: "tool.execute.before",
      session_id: input.sessionID,
      cwd: directory,
      tool: input.tool,
      args: output.args,
    })
    if (reply.decision !== "allow") throw new Error(reply.reason)
    Object.assign(output.args, reply.args) // with --confine, the command that runs inside the sandbox
  },
})
