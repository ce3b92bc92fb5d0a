-- The running server as Neovim's client of it, whatever the version of Neovim.

local M = {}

function M.request(client, method, params, handler, buffer)
  if vim.fn.has("nvim-0.11") == 1 then
    return client:request(method, params, handler, buffer)
  end
  return client.request(method, params, handler, buffer)
end

-- The server of a buffer, or nil. It has the one name when setup() starts it, the other after vim.lsp.enable().
function M.of_buffer(buffer)
  for _, client in pairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    local ours = client.name == "cuda-lsp" or client.name == "cuda_lsp"
    if ours and vim.lsp.buf_is_attached(buffer, client.id) then
      return client
    end
  end
end

-- The command line of the server's program: `cuda-lsp serve` without `serve`, and other words in its place.
function M.command_line(client, words)
  local program = {}
  local cmd = client.config.cmd
  for _, word in ipairs(type(cmd) == "table" and cmd or { "cuda-lsp" }) do
    if word == "serve" then
      break
    end
    table.insert(program, word)
  end
  return vim.list_extend(program, words)
end

-- Calls back with the code lenses of a buffer, as the server gives them.
function M.lenses(client, buffer, use)
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
  M.request(client, "textDocument/codeLens", params, function(problem, result, context, config)
    if vim.api.nvim_buf_is_valid(buffer) then
      use(problem and {} or result or {}, problem, context, config)
    end
  end, buffer)
end

return M
