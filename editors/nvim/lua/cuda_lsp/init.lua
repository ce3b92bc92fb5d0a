-- cuda-lsp in Neovim 0.7.2 and newer: starts the server for CUDA files. `:help cuda-lsp` describes it.
--
--   require("cuda_lsp").setup({ settings = { ["check-on"] = "change" } })
--
-- Hover, code actions, diagnostics and code lenses are Neovim's own.

local lenses = require("cuda_lsp.lenses")

local M = {}

local MARKERS = { ".cuda-lsp.toml", "compile_commands.json", ".git" }

-- What setup() was given, with the defaults; the commands read it too.
M.options = {
  cmd = { "cuda-lsp", "serve" },
  cmd_env = nil,
  filetypes = { "cuda" },
  settings = {},
  code_lens = true,
  capabilities = nil,
  on_attach = nil,
  -- Shows a page in a browser; called with its path. Without it, the program of the desktop.
  open = nil,
}

-- The nearest folder above a file that holds one of the markers, or the file's own.
local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  local candidate = folder
  while true do
    for _, marker in ipairs(MARKERS) do
      if vim.loop.fs_stat(candidate .. "/" .. marker) then
        return candidate
      end
    end
    local parent = vim.fn.fnamemodify(candidate, ":h")
    if parent == candidate then
      return folder
    end
    candidate = parent
  end
end

-- What the client declares beside what Neovim does: lenses are asked for again when the server says so, `run` is a
-- command of this plugin, and pages are not for the server to show where the user has a way of their own.
local function capabilities(given, shows_pages)
  local own = given or vim.lsp.protocol.make_client_capabilities()
  return vim.tbl_deep_extend("force", own, {
    workspace = { codeLens = { refreshSupport = true } },
    window = shows_pages and { showDocument = { support = false } } or nil,
    experimental = { clientCommands = { "cuda-lsp.run" } },
  })
end

-- The part of a client's configuration that does not depend on a file: for vim.lsp.start() and vim.lsp.config().
function M.client_config(options)
  options = vim.tbl_extend("force", M.options, options or {})
  local settings = vim.tbl_isempty(options.settings) and vim.empty_dict() or options.settings
  return {
    name = "cuda-lsp",
    cmd = options.cmd,
    cmd_env = options.cmd_env,
    settings = { ["cuda-lsp"] = settings },
    capabilities = capabilities(options.capabilities, options.open ~= nil),
    handlers = lenses.handlers(),
    commands = require("cuda_lsp.commands").of_lenses,
    on_attach = function(client, buffer)
      if options.code_lens then
        lenses.attach(client, buffer)
      end
      if options.on_attach then
        options.on_attach(client, buffer)
      end
    end,
  }
end

local clients = {}

-- Neovim 0.7 has no vim.lsp.start: one client per root is kept here.
local function start(config, buffer)
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  local id = clients[config.root_dir]
  if id == nil or vim.lsp.get_client_by_id(id) == nil then
    id = vim.lsp.start_client(config)
    clients[config.root_dir] = id
  end
  if id ~= nil then
    vim.lsp.buf_attach_client(buffer, id)
  end
  return id
end

function M.setup(options)
  M.options = vim.tbl_extend("force", M.options, options or {})
  local group = vim.api.nvim_create_augroup("cuda-lsp", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = M.options.filetypes,
    callback = function(event)
      local config = M.client_config()
      config.root_dir = root_of(vim.api.nvim_buf_get_name(event.buf))
      start(config, event.buf)
    end,
  })
end

return M
