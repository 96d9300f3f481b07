"""Networks: what they are made of, how they become ONNX files, and how those files answer a search's questions."""
