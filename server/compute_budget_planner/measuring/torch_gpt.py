"""The reference model in PyTorch, written as most training code is: modules, no fused kernels."""

from typing import Any

from compute_budget_planner.measuring.backend import GptShape


def build_gpt(torch: Any, shape: GptShape) -> Any:
    """Return a module that maps token ids `(batch, seq_len)` to logits."""
    nn, functional = torch.nn, torch.nn.functional
    width, head_dim = shape.d_model, shape.d_model // shape.n_heads

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        """Attention and feed-forward part, each behind a norm and beside a residual."""

        def __init__(self) -> None:
            super().__init__()
            self.attention_norm, self.ffn_norm = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            heads = (batch, length, shape.n_heads, head_dim)
            q, k, v = self.qkv(self.attention_norm(x)).split(width, dim=2)
            q, k, v = (part.view(heads).transpose(1, 2) for part in (q, k, v))
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(functional.gelu(self.up(self.ffn_norm(x))))

    class Gpt(nn.Module):  # type: ignore[misc, name-defined]
        """Embeddings, blocks, a last norm, and a head tied to the embedding."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(shape.vocab_size, width)
            self.positions = nn.Embedding(shape.seq_len, width)
            self.blocks = nn.ModuleList(Block() for _ in range(shape.n_layers))
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, shape.vocab_size, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, ids: Any) -> Any:
            places = torch.arange(ids.shape[1], device=ids.device)
            x = self.tokens(ids) + self.positions(places)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    return Gpt()
