// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A stablecoin of six decimals that gives everybody as much as they like.
contract MockUsd {
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(address => uint256) public balanceOf;

    function decimals() external pure returns (uint8) {
        return 6;
    }

    function symbol() external pure returns (string memory) {
        return "USDX";
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        send(to, value);
        return true;
    }

    /// Several transfers in one transaction.
    function transferAll(address to, uint256[] calldata values) external {
        for (uint256 i = 0; i < values.length; i++) send(to, values[i]);
    }

    function send(address to, uint256 value) private {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
    }
}
