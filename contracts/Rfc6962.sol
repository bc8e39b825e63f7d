// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Merkle proofs of an append-only log: the tree of RFC 6962 and RFC 9162 with SHA-256.
/// Nothing here reverts on a wrong proof: it says false.
library Rfc6962 {
    /// The leaf of a log entry: SHA-256(0x00 || kind || digest). Kind 0 is a receipt.
    function leafHash(uint8 kind, bytes32 digest) internal view returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore8(0x00, 0x00)
            mstore8(0x01, kind)
            mstore(0x02, digest)
            let done := staticcall(gas(), 0x02, 0x00, 0x22, 0x00, 0x20)
            // Without the precompile the call succeeds and returns nothing.
            if iszero(and(done, eq(returndatasize(), 0x20))) { revert(0, 0) }
            hash := mload(0x00)
        }
    }

    /// An inner node: SHA-256(0x01 || left || right), so that no node can pass for a leaf.
    function nodeHash(bytes32 left, bytes32 right) internal view returns (bytes32 hash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore8(free, 0x01)
            mstore(add(free, 0x01), left)
            mstore(add(free, 0x21), right)
            let done := staticcall(gas(), 0x02, free, 0x41, 0x00, 0x20)
            if iszero(and(done, eq(returndatasize(), 0x20))) { revert(0, 0) }
            hash := mload(0x00)
        }
    }

    /// `path[i]` for an i that is known to be inside.
    function hashAt(bytes32[] calldata path, uint256 i) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := calldataload(add(path.offset, shl(5, i)))
        }
    }

    /// Whether `leaf` (already hashed) has this index in the tree of this size and root.
    /// RFC 9162, section 2.1.3.2. The index and the size alone fix the length of the path.
    function verifyInclusion(
        uint256 index,
        uint256 size,
        bytes32 leaf,
        bytes32[] calldata path,
        bytes32 root
    ) internal view returns (bool) {
        if (index >= size) return false;
        uint256 fn = index;
        uint256 sn = size - 1;
        bytes32 r = leaf;
        for (uint256 i; i < path.length; ++i) {
            if (sn == 0) return false;
            bytes32 p = hashAt(path, i);
            if (fn & 1 == 1) {
                r = nodeHash(p, r);
            } else if (fn == sn) {
                r = nodeHash(p, r);
                // The last node of a level without a sibling moves up as it is.
                while (fn & 1 == 0 && fn != 0) {
                    fn >>= 1;
                    sn >>= 1;
                }
            } else {
                r = nodeHash(r, p);
            }
            fn >>= 1;
            sn >>= 1;
        }
        return sn == 0 && r == root;
    }

    /// Whether the tree of `size2` and `root2` begins with all leaves of the tree of `size1` and
    /// `root1`. RFC 9162, section 2.1.4.2. Sizes from 1; equal sizes need equal roots and no path.
    function verifyConsistency(
        uint256 size1,
        uint256 size2,
        bytes32 root1,
        bytes32 root2,
        bytes32[] calldata path
    ) internal view returns (bool) {
        if (size1 == 0 || size1 > size2) return false;
        if (size1 == size2) return path.length == 0 && root1 == root2;
        if (path.length == 0) return false;
        uint256 fn = size1 - 1;
        uint256 sn = size2 - 1;
        while (fn & 1 == 1) {
            fn >>= 1;
            sn >>= 1;
        }
        // A first tree that is perfect is itself the node to start from, and is not sent.
        bool perfect = size1 & (size1 - 1) == 0;
        bytes32 fr = perfect ? root1 : path[0];
        bytes32 sr = fr;
        for (uint256 i = perfect ? 0 : 1; i < path.length; ++i) {
            if (sn == 0) return false;
            bytes32 c = hashAt(path, i);
            if (fn & 1 == 1 || fn == sn) {
                fr = nodeHash(c, fr);
                sr = nodeHash(c, sr);
                while (fn & 1 == 0 && fn != 0) {
                    fn >>= 1;
                    sn >>= 1;
                }
            } else {
                sr = nodeHash(sr, c);
            }
            fn >>= 1;
            sn >>= 1;
        }
        return sn == 0 && fr == root1 && sr == root2;
    }
}
