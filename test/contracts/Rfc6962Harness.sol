// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc6962} from "./Rfc6962.sol";

/// Opens the library's functions to tests.
contract Rfc6962Harness {
    function leafHash(uint8 kind, bytes32 digest) external view returns (bytes32) {
        return Rfc6962.leafHash(kind, digest);
    }

    function nodeHash(bytes32 left, bytes32 right) external view returns (bytes32) {
        return Rfc6962.nodeHash(left, right);
    }

    function verifyInclusion(
        uint256 index,
        uint256 size,
        bytes32 leaf,
        bytes32[] calldata path,
        bytes32 root
    ) external view returns (bool) {
        return Rfc6962.verifyInclusion(index, size, leaf, path, root);
    }

    function verifyConsistency(
        uint256 size1,
        uint256 size2,
        bytes32 root1,
        bytes32 root2,
        bytes32[] calldata path
    ) external view returns (bool) {
        return Rfc6962.verifyConsistency(size1, size2, root1, root2, path);
    }
}
