"""A queue as many pools have it: right for every legal call, and without a check in sight. Read, never imported."""


class Node:
    def __init__(self, number):
        self.number = number
        self.left = None
        self.right = None


class UncheckedQueue:
    def __init__(self, blocks):
        self.list_head = Node(-1)
        self.list_tail = Node(-2)
        self.list_head.right = self.list_tail
        self.list_tail.left = self.list_head
        self.size = 0
        self.append_n(blocks)

    def popleft(self):
        first = self.list_head.right
        if first is self.list_tail:
            raise IndexError("empty")
        self.remove(first)
        return first

    def popleft_n(self, n):
        assert n <= self.size
        taken = []
        node = self.list_head.right
        for _ in range(n):
            taken.append(node)
            gone = node
            node = node.right
            gone.left = gone.right = None
        self.list_head.right = node
        node.left = self.list_head
        self.size -= n
        return taken

    def remove(self, block):
        if not block.left or not block.right:
            raise ValueError("not in the queue")
        block.left.right = block.right
        block.right.left = block.left
        block.left = block.right = None
        self.size -= 1

    def append(self, block):
        last = self.list_tail.left
        last.right, block.left = block, last
        block.right, self.list_tail.left = self.list_tail, block
        self.size += 1

    def append_n(self, blocks):
        if not blocks:
            return
        last = self.list_tail.left
        for block in blocks:
            last.right = block
            block.left = last
            last = block
        last.right = self.list_tail
        self.list_tail.left = last
        self.size += len(blocks)

    def prepend_n(self, blocks):
        first = self.list_head.right
        last = self.list_head
        for block in blocks:
            last.right = block
            block.left = last
            last = block
        last.right = first
        first.left = last
        self.size += len(blocks)

    def get_all_free_blocks(self):
        listed = []
        node = self.list_head.right
        while node.right is not None:
            listed.append(node)
            node = node.right
        return listed
