-- The commands; what they do is loaded when one is used. `:help cuda-lsp-commands`

if vim.g.loaded_cuda_lsp then
  return
end
vim.g.loaded_cuda_lsp = true

local function command(name, does, options)
  vim.api.nvim_create_user_command(name, function(given)
    -- Neovim 0.7 gives one empty word for none.
    local words = vim.tbl_filter(function(word)
      return word ~= ""
    end, given.fargs)
    require("cuda_lsp.commands")[does](words)
  end, options)
end

local function complete(lead)
  return require("cuda_lsp.commands").complete_kernels(lead)
end

command("CudaLspRun", "run", { nargs = "*", complete = complete, desc = "Run a kernel under the race detector" })
command("CudaLspRaces", "races", { nargs = "?", complete = complete, desc = "Draw the findings on a page for a browser" })
command("CudaLspDocs", "docs", { nargs = "?", desc = "Show the page of a diagnostic" })
command("CudaLspFixAll", "fix_all", { desc = "Apply all proved fixes" })
command("CudaLspRecheck", "recheck", { desc = "Check this file again" })
command("CudaLspCheckWorkspace", "check_workspace", { desc = "Check every CUDA source of the workspace" })
