-- Code lenses that follow the checks: asked for when a buffer is entered and whenever the server says that they have
-- changed. Neovim 0.12 does both by itself.

local clients = require("cuda_lsp.client")

local M = {}

local GROUP = "cuda-lsp-lenses"

local function display(client, buffer)
  clients.lenses(client, buffer, function(lenses, problem, context, config)
    if not problem and vim.tbl_isempty(lenses) then
      -- on_codelens would leave the old ones.
      vim.lsp.codelens.save({}, buffer, client.id)
      local prefix = vim.fn.has("nvim-0.11") == 1 and "nvim.lsp.codelens:" or "vim_lsp_codelens:"
      local marks = vim.api.nvim_create_namespace(prefix .. client.id)
      return vim.api.nvim_buf_clear_namespace(buffer, marks, 0, -1)
    end
    vim.lsp.codelens.on_codelens(problem, lenses, context, config)
  end)
end

function M.attach(client, buffer)
  if vim.lsp.codelens.enable then
    return vim.lsp.codelens.enable(true, { bufnr = buffer })
  end
  local group = vim.api.nvim_create_augroup(GROUP, { clear = false })
  vim.api.nvim_clear_autocmds({ group = group, buffer = buffer })
  vim.api.nvim_create_autocmd("BufEnter", {
    group = group,
    buffer = buffer,
    callback = function()
      if vim.lsp.buf_is_attached(buffer, client.id) then
        display(client, buffer)
      end
    end,
  })
  display(client, buffer)
end

-- For the buffers that M.attach has seen.
local function on_refresh(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  vim.api.nvim_create_augroup(GROUP, { clear = false })
  for _, autocmd in ipairs(vim.api.nvim_get_autocmds({ group = GROUP, event = "BufEnter" })) do
    if client and vim.lsp.buf_is_attached(autocmd.buffer, client.id) then
      display(client, autocmd.buffer)
    end
  end
  return vim.NIL
end

-- Handlers of the client.
function M.handlers()
  return vim.lsp.codelens.enable and {} or { ["workspace/codeLens/refresh"] = on_refresh }
end

return M
